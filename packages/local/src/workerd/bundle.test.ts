import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { brokerEntrySource } from "@sluice/project/generate/broker-entry";
import { projectFolder } from "@sluice/project/test/project-folder";
import { describe, expect, it } from "vitest";
import { stackFrameMapper } from "../stacks/stack-frames.ts";
import { bundleBroker, readUpload } from "./bundle.ts";

/** Makes a form as Wrangler writes it: as it would be sent, the metadata first. */
async function form(modules: readonly (readonly [name: string, type: string, text: string])[]) {
  const data = new FormData();
  data.set("metadata", JSON.stringify({ main_module: "entry.js" }));
  for (const [name, type, text] of modules) data.set(name, new File([text], name, { type }));
  return new Uint8Array(await new Response(data).arrayBuffer());
}

describe("what wrangler deploy --dry-run writes", () => {
  it("is the Worker's modules, the main one first, which are written to where stack traces lead", async () => {
    const folder = projectFolder({});
    const written = await form([
      ["words.md", "text/plain", "hello"],
      ["entry.js", "application/javascript+module", "export default {};"],
      ["entry.js.map", "application/source-map", "{}"],
    ]);
    const { modules, modulesRoot, maps } = await readUpload(written, "shop", folder);
    const path = (name: string) => join(folder, "bundle", name);
    expect(modulesRoot).toBe(join(folder, "bundle"));
    expect(modules.map(({ type, path }) => [type, path])).toEqual([
      ["ESModule", path("entry.js")],
      ["Text", path("words.md")],
    ]);
    expect(modules.map(({ contents }) => new TextDecoder().decode(contents as Uint8Array))).toEqual([
      "export default {};",
      "hello",
    ]);
    expect(readFileSync(path("entry.js"), "utf8")).toBe("export default {};");
    expect([...maps]).toEqual([[pathToFileURL(path("entry.js")).href, { text: "{}", folder }]]);
  });

  it("cannot be a module that workerd does not run", async () => {
    const written = await form([["entry.py", "text/x-python", "pass"]]);
    await expect(readUpload(written, "shop", "/project")).rejects.toThrow(
      'Worker "shop": sluice serve runs no module of type text/x-python (entry.py).',
    );
  });
});

it("the broker's bundle is one module beside the page, and its stack traces lead to the sources", async () => {
  const directory = projectFolder({
    "entry.js":
      'export { fail } from "./lib.ts";\nexport { env } from "cloudflare:workers";\n' +
      'export { default as page } from "./page.bin";\n',
    "lib.ts": "/** Fails. */\nexport function fail(): never {\n  throw new Error();\n}\n",
  });
  const { modules, maps } = await bundleBroker({ directory, files: { "page.bin": new Uint8Array([1, 2]) } });
  expect(modules.map(({ type, path }) => [type, path])).toEqual([
    ["ESModule", join(directory, "bundle/entry.js")],
    ["Data", join(directory, "bundle/page.bin")],
  ]);
  expect(String(modules[0]?.contents)).toContain('from "./page.bin"');
  const lines = String(modules[0]?.contents).split("\n");
  const row = lines.findIndex((line) => line.includes("throw new Error()")) + 1;
  const column = (lines[row - 1]?.indexOf("throw") ?? 0) + 1;
  const place = `${pathToFileURL(join(directory, "bundle/entry.js"))}:${row}:${column}`;
  expect(stackFrameMapper(maps)(`at fail (${place})`)).toBe(
    `at fail (${pathToFileURL(join(directory, "lib.ts"))}:3:3)`,
  );
});

it("the broker of the package is given to workerd as it was packed", async () => {
  const directory = projectFolder({
    "dist/broker.js": "export const defineBroker = (options) => options;",
    "dist/broker.js.map": "{}",
  });
  const files = {
    "entry.js": brokerEntrySource([], "./dist/broker.js"),
    "topology.json": '{ "queues": {} }',
    "page.bin": new Uint8Array([1]),
  };
  const { modules, maps } = await bundleBroker({ directory, files });
  const named = modules.map(({ path, contents }) => [relative(directory, path), `${contents}`] as const);
  expect(named.slice(1)).toEqual([
    ["bundle/runtime.js", "export const defineBroker = (options) => options;"],
    ["bundle/topology.js", 'export default { "queues": {} };'],
    ["bundle/page.bin", "1"],
  ]);
  expect(named[0]?.[1]).toContain('import { defineBroker } from "./runtime.js";');
  expect(named[0]?.[1]).toContain('import topology from "./topology.js";');
  const map = { text: "{}", folder: join(directory, "dist") };
  expect([...maps]).toEqual([[pathToFileURL(join(directory, "bundle/runtime.js")).href, map]]);
});
