import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";

const MANIFEST = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const WORKSPACE = readFileSync(new URL("../../../pnpm-workspace.yaml", import.meta.url), "utf8");

describe("the package", () => {
  it.each(["esbuild", "miniflare", "wrangler"])(
    "depends on the %s of the workspace's catalog, in words that npm understands",
    (name) => {
      const version = new RegExp(`^ {2}${name}: (\\d\\S+)$`, "m").exec(WORKSPACE)?.[1];
      expect(version).toMatch(/^\d+\.\d+\.\d+(-beta)?$/);
      expect(MANIFEST.dependencies[name]).toBe(version);
    },
  );

  it("runs Workers on the Miniflare that its Wrangler works out options for", () => {
    const wrangler = createRequire(import.meta.url)("wrangler/package.json");
    expect(MANIFEST.dependencies.miniflare).toBe(wrangler.dependencies.miniflare);
  });

  it("carries the licence of the repository, which npm takes from the package's own folder", () => {
    const licence = readFileSync(new URL("../../../LICENSE", import.meta.url), "utf8");
    expect(licence).toContain("Apache License");
    expect(MANIFEST.license).toBe("Apache-2.0");
    expect(readFileSync(new URL("../LICENSE", import.meta.url), "utf8")).toBe(licence);
  });

  it("depends on nothing that only this workspace has", () => {
    for (const range of Object.values(MANIFEST.dependencies)) expect(range).toMatch(/^\d/);
  });
});
