import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const MANIFEST = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const WORKSPACE = readFileSync(new URL("../../../pnpm-workspace.yaml", import.meta.url), "utf8");

describe("the package", () => {
  it.each(["esbuild", "workerd", "wrangler"])(
    "depends on the %s of the workspace's catalog, in words that npm understands",
    (name) => {
      const version = new RegExp(`^ {2}${name}: (\\d\\S+)$`, "m").exec(WORKSPACE)?.[1];
      expect(version).toMatch(/^\d+\.\d+\.\d+$/);
      expect(MANIFEST.dependencies[name]).toBe(version);
    },
  );

  it("depends on nothing that only this workspace has", () => {
    for (const range of Object.values(MANIFEST.dependencies)) expect(range).toMatch(/^\d/);
  });
});
