import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { lateError, placeIn, reasonOf } from "./late-errors.ts";

/** Makes an error with a frame, as Node.js writes it. */
function errorAt(frame: string): Error {
  return Object.assign(new Error("boom"), {
    stack: `Error: boom\n    at ${frame}\n    at node:internal/timers:5:1`,
  });
}

it.each<[thrown: unknown, words: string]>([
  [new Error("boom"), "boom"],
  ["boom", "boom"],
  ["\u001b[2J\u001b]0;owned\u0007 a\nb\u202e", "\\x1b[2J\\x1b]0;owned\\x07 a\nb\\u{202e}"],
  [new Error("\u001b[2J\u2028"), "\\x1b[2J\\u{2028}"],
  [Symbol("boom"), "Symbol(boom)"],
  [undefined, "undefined"],
  [new Error(), "it has thrown something without words"],
  [Object.create(null), "it has thrown something without words"],
  [Object.assign(new Error(), { message: Object.create(null) }), "it has thrown something without words"],
])("whatever is thrown has words: %#", (thrown, words) => {
  expect(reasonOf(thrown)).toBe(words);
});

it("what is no error is that of any file which was read", () => {
  expect(lateError(Object.create(null), [])).toBeNull();
  expect(lateError("boom", ["/a/cloudflare.config.ts", "/b/cloudflare.config.ts"])).toBe(
    "/a/cloudflare.config.ts or /b/cloudflare.config.ts: warning: it failed after it had been read: boom",
  );
  expect(placeIn(Object.assign(new Error(), { stack: Object.create(null) }), "/a/b.ts")).toBe("/a/b.ts");
});

describe.each([
  ["linux", "/home/kim/my shop (old)/a"],
  ["darwin", "/Users/kim/shop/a"],
  ["win32", "C:\\Users\\Kim Doe\\shop\\a"],
] as const)("on %s", (platform, folder) => {
  const separator = platform === "win32" ? "\\" : "/";
  const inFolder = (name: string) => `${folder}${separator}${name.replaceAll("/", separator)}`;
  const file = inFolder("cloudflare.config.ts");
  const url = (path: string) => pathToFileURL(path, { windows: platform === "win32" }).href;
  const place = (frame: string) => placeIn(errorAt(frame), file, platform);

  it("the place of an error is found in a module, with and without a name of a function", () => {
    expect(place(`${url(file)}:3:7`)).toBe(`${file}:3`);
    expect(place(`Timeout._onTimeout (${url(file)}:3:7)`)).toBe(`${file}:3`);
    expect(place(`async ${url(inFolder("lib/names.ts"))}?t=1.5:12:1`)).toBe(`${inFolder("lib/names.ts")}:12`);
    const syntax = Object.assign(new SyntaxError("x"), { stack: `${url(file)}:2\n  worker: }\n` });
    expect(placeIn(syntax, file, platform)).toBe(`${file}:2`);
  });

  it("the place of an error is found in a module of CommonJS", () => {
    expect(place(`Object.<anonymous> (${inFolder("names.cjs")}:4:2)`)).toBe(`${inFolder("names.cjs")}:4`);
  });

  it("an error of another folder or of a package has no place", () => {
    expect(place(`f (${url(inFolder("node_modules/x/index.js"))}:1:1)`)).toBe(file);
    expect(place(`f (${url(`${folder}-other${separator}x.ts`)}:1:1)`)).toBe(file);
    expect(place("f (node:internal/x:1:1)")).toBe(file);
  });

  it("an error that comes late is that of its file", () => {
    expect(lateError(errorAt(`f (${url(file)}:3:7)`), [file], platform)).toBe(
      `${file}:3: warning: it failed after it had been read: boom`,
    );
    expect(lateError(errorAt("f (node:internal/x:1:1)"), [file], platform)).toBeNull();
  });
});
