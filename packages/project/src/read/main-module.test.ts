import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectFolder } from "../../test/project-folder.ts";
import { readMainModule } from "./main-module.ts";

async function mainModule(name: string, source: string) {
  const file = join(projectFolder({ [name]: source }), name);
  return { file, main: await readMainModule(file, "api") };
}

describe("readMainModule", () => {
  it.each([
    ["index.ts", "const app: object = {};\nexport default app;"],
    ["index.js", "export default class {}"],
    ["index.tsx", "export { app as default }; const app = <div />;"],
    ["index.mjs", 'export { default } from "./elsewhere.mjs";'],
  ])("finds the default export of %s", async (name, source) => {
    const { file, main } = await mainModule(name, source);
    expect(main).toEqual({ kind: "default", file });
  });

  it("recognizes a module with named exports only, since export * passes on no default", async () => {
    const { file, main } = await mainModule(
      "index.ts",
      'export class Counter {}\nexport * from "./worker.ts";',
    );
    expect(main).toEqual({ kind: "named-only", file, names: ["Counter"] });
  });

  it("takes a file that is not built yet, or does not compile, for one with a default export", async () => {
    expect(await readMainModule("/nowhere/dist/index.js", "api")).toMatchObject({ kind: "default" });
    expect((await mainModule("index.ts", "export default {")).main).toMatchObject({ kind: "default" });
  });

  it("recognizes a Worker without code", async () => {
    expect(await readMainModule(undefined, "site")).toEqual({ kind: "none" });
  });

  // conformance: service-worker-format
  it("refuses the service worker format", async () => {
    await expect(mainModule("index.js", 'addEventListener("fetch", () => {});')).rejects.toThrow(
      'Worker "api" exports nothing from index.js: it is in the service worker format.',
    );
  });

  it("refuses Python", async () => {
    await expect(readMainModule("/a/entry.py", "api")).rejects.toThrow(
      'Worker "api" is written in Python (/a/entry.py), which Sluice cannot run.',
    );
  });
});
