import { cpuMsOf } from "@sluice/protocol/test/cpu-time";
import { transformSync } from "esbuild";
import { describe, expect, it } from "vitest";
import { type ModuleMap, stackFrameMapper } from "./stack-frames.ts";

/** Transforms a source into a module; answers its code and the map that leads back. */
function bundled(source: string, sourceRoot?: string): { readonly code: string; readonly text: string } {
  const { code, map } = transformSync(source, {
    loader: "ts",
    sourcemap: true,
    sourcefile: "src/a.ts",
    ...(sourceRoot === undefined ? {} : { sourceRoot }),
  });
  return { code, text: map };
}

const SOURCE = `interface Named {
  readonly name: string;
}
export function fail({ name }: Named): never {
  throw new Error(name);
}
`;
const MODULE = "file:///run/a%20b/modules/0/0";

function mapper(map: ModuleMap): (line: string) => string {
  return stackFrameMapper(new Map([[MODULE, map]]));
}

describe("a line of a stack trace", () => {
  const { code, text } = bundled(SOURCE);
  const lines = code.split("\n");
  const row = lines.findIndex((line) => line.includes("throw")) + 1;
  const column = (lines[row - 1] ?? "").indexOf("new Error") + 1;

  it("leads to the source, wherever in the line the place is", () => {
    const map = mapper({ text, folder: "/home/a b" });
    expect(map(`    at fail (${MODULE}:${row}:${column})`)).toBe(
      "    at fail (file:///home/a%20b/src/a.ts:5:9)",
    );
    expect(map(`    at async ${MODULE}:${row}:${column}`)).toBe(
      "    at async file:///home/a%20b/src/a.ts:5:9",
    );
  });

  it("leads to the source from a folder whose name has parentheses", () => {
    const url = "file:///run/(1)/modules/0/0";
    const map = stackFrameMapper(new Map([[url, { text, folder: "/home/(1)" }]]));
    expect(map(`    at fail (${url}:${row}:${column})`)).toBe("    at fail (file:///home/(1)/src/a.ts:5:9)");
  });

  it("counts from the map's own root where it has one", () => {
    const rooted = bundled(SOURCE, "../lib");
    expect(mapper({ text: rooted.text, folder: "/home/project" })(`${MODULE}:${row}:${column}`)).toBe(
      "file:///home/lib/src/a.ts:5:9",
    );
  });

  it.each([
    ["a module that no map is about", `    at fail (file:///run/modules/9/9:${row}:${column})`],
    ["a line that nothing of a source is in", `    at fail (${MODULE}:${lines.length + 5}:1)`],
    ["a line that is none of a trace", "Queue orders: 12:30:05"],
  ])("stays as it is for %s", (_, line) => {
    expect(mapper({ text, folder: "/home" })(line)).toBe(line);
  });

  it.each(["", "{", "null", '{"version":3}'])("stays as it is with %j for a map", (broken) => {
    const line = `    at fail (${MODULE}:${row}:${column})`;
    expect(mapper({ text: broken, folder: "/home" })(line)).toBe(line);
  });
});

it.each(["file://", "file:///a:1:", ":1:2", "file:// "])(
  "a long line of %j is read in one pass",
  async (part) => {
    const line = part.repeat(128_000);
    const tookMs = await cpuMsOf(() => expect(stackFrameMapper(new Map())(line)).toBe(line));
    // Milliseconds are enough; reading on from each part to the end takes many seconds.
    expect(tookMs).toBeLessThan(1_000);
  },
);
