import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { diagnosticsOf, project } from "../../test/project.ts";
import { type ConfigDocument, readDocument } from "./document.ts";

function read(name: string, content: string | Uint8Array): ConfigDocument {
  return readDocument(join(project({ [name]: content }), name));
}

function refused(name: string, content: string | Uint8Array): { line: number | undefined; text: string } {
  const [diagnostic] = diagnosticsOf(() => read(name, content));
  return { line: diagnostic?.line, text: diagnostic?.text ?? "" };
}

test.each(["wrangler.json", "wrangler.jsonc"])("%s may hold comments and trailing commas", (name) => {
  const { root, lines } = read(
    name,
    `{
  // a comment
  "name": "a", /* another
  "name": "b" */ "queues": {
    "consumers": [{ "queue": "q" },
      { "queue": "r", }, ],
  },
}`,
  );
  expect(root).toMatchObject({ name: "a", queues: { consumers: [{ queue: "q" }, { queue: "r" }] } });
  expect(lines.lineOf(["name"])).toBe(3);
  expect(lines.lineOf(["queues"])).toBe(4);
  expect(lines.lineOf(["queues", "consumers", 0])).toBe(5);
  expect(lines.lineOf(["queues", "consumers", 1, "queue"])).toBe(6);
});

test("a key that occurs twice in JSON has its last value and the line of that", () => {
  const { root, lines } = read("wrangler.json", `{\n"name": "a",\n"name": "b"\n}`);
  expect(root.name).toBe("b");
  expect(lines.lineOf(["name"])).toBe(3);
});

test("a key called __proto__ is a key", () => {
  expect(Object.keys(read("wrangler.json", `{ "__proto__": { "name": "a" } }`).root)).toEqual(["__proto__"]);
  expect(read("wrangler.json", `{ "__proto__": { "name": "a" } }`).root.name).toBeUndefined();
  expect(read("wrangler.toml", `__proto__.name = "a"`).root.name).toBeUndefined();
});

describe.each([
  ["wrangler.toml", `# x\nname = "a"\n`],
  ["wrangler.json", `{\n"name": "a"\n}`],
])("%s", (name, text) => {
  test("may have CRLF line ends", () => {
    const { root, lines } = read(name, text.replaceAll("\n", "\r\n"));
    expect(root.name).toBe("a");
    expect(lines.lineOf(["name"])).toBe(2);
  });

  test("may begin with a UTF-8 byte order mark", () => {
    const { root, lines } = read(name, `\ufeff${text}`);
    expect(root.name).toBe("a");
    expect(lines.lineOf(["name"])).toBe(2);
  });

  test.each([
    ["UTF-16 LE", [0xff, 0xfe, 0x61, 0x00]],
    ["UTF-16 BE", [0xfe, 0xff, 0x00, 0x61]],
    ["UTF-32 LE", [0xff, 0xfe, 0x00, 0x00]],
    ["UTF-32 BE", [0x00, 0x00, 0xfe, 0xff]],
  ])("is refused in %s", (encoding, bytes) => {
    expect(refused(name, Uint8Array.from(bytes))).toEqual({
      line: 1,
      text: `Configuration file contains ${encoding} byte order marker. Save it as UTF-8.`,
    });
  });
});

describe("what does not parse is refused with its line", () => {
  test("what does not parse is refused with its line TOML syntax", () => {
    const { line, text } = refused("wrangler.toml", `name = "a"\r\n\r\nmain = = 1\r\n`);
    expect(line).toBe(3);
    expect(text).toMatch(/^Not valid TOML: Expected .* but "=" found\.$/);
  });

  test("what does not parse is refused with its line a TOML key that is defined twice", () => {
    expect(refused("wrangler.toml", `name = "a"\n\nname = "b"\n`)).toEqual({
      line: 3,
      text: "Not valid TOML: Cannot redefine existing key 'name'.",
    });
  });

  test("what does not parse is refused with its line JSON syntax, by its first error", () => {
    expect(refused("wrangler.jsonc", `{\n  "name": "a"\n  "main": "b"\n}`)).toEqual({
      line: 3,
      text: "Not valid JSON: CommaExpected.",
    });
  });

  test("what does not parse is refused with its line an empty JSON file", () => {
    expect(refused("wrangler.json", "")).toEqual({ line: 1, text: "Not valid JSON: ValueExpected." });
  });

  test("what does not parse is refused with its line JSON that is no object", () => {
    expect(refused("wrangler.json", "[1]")).toEqual({
      line: 1,
      text: "A configuration should be an object but got [1].",
    });
  });
});

test("an empty TOML file is an empty configuration", () => {
  expect(read("wrangler.toml", "").root).toEqual({});
});

test("a file of another kind is refused", () => {
  expect(refused("wrangler.yaml", "name: a").text).toBe(
    "A configuration file ends in .toml, .jsonc or .json.",
  );
});

test("a file that cannot be read is refused", () => {
  const file = join(project({}), "wrangler.toml");
  const [diagnostic] = diagnosticsOf(() => readDocument(file));
  expect(diagnostic?.file).toBe(file);
  expect(diagnostic?.text).toMatch(/^Could not read the file: ENOENT/);
});
