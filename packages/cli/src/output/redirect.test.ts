import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { projectFolder } from "../../test/project-folder.ts";
import { shieldFoldersBelow, writeRedirect } from "./redirect.ts";

function redirectOf(folder: string): string {
  const deploy = join(folder, ".wrangler/deploy");
  return resolve(deploy, JSON.parse(readFileSync(join(deploy, "config.json"), "utf8")).configPath);
}

describe("writeRedirect", () => {
  it("leads from the user's folder to the generated configuration", () => {
    const folder = projectFolder({});
    writeRedirect(join(folder, "api"), join(folder, ".sluice/api/wrangler.json"));
    expect(redirectOf(join(folder, "api"))).toBe(join(folder, ".sluice/api/wrangler.json"));
  });

  it("tells which other redirect it took the place of", () => {
    const folder = projectFolder({
      ".wrangler/deploy/config.json": '{ "configPath": "../../dist/wrangler.json" }',
    });
    const ours = join(folder, ".sluice/api/wrangler.json");
    expect(writeRedirect(folder, ours)).toBe(join(folder, "dist/wrangler.json"));
    expect(writeRedirect(folder, ours)).toBeNull();
  });
});

describe("shieldFoldersBelow", () => {
  it("leads every Worker below to its own configuration, at whatever depth", () => {
    const folder = projectFolder({ "a/wrangler.toml": "", "b/c/wrangler.jsonc": "{}", "d/index.js": "" });
    expect(shieldFoldersBelow(folder)).toEqual([join(folder, "a"), join(folder, "b/c")]);
    expect(redirectOf(join(folder, "a"))).toBe(join(folder, "a/wrangler.toml"));
    expect(redirectOf(join(folder, "b/c"))).toBe(join(folder, "b/c/wrangler.jsonc"));
    expect(existsSync(join(folder, "d/.wrangler"))).toBe(false);
  });

  it("leaves a folder with a redirect of its own alone, and looks into no package and no hidden folder", () => {
    const folder = projectFolder({
      "a/wrangler.toml": "",
      "a/.wrangler/deploy/config.json": '{"configPath":"elsewhere.json"}',
      "node_modules/p/wrangler.toml": "",
      ".hidden/wrangler.toml": "",
    });
    expect(shieldFoldersBelow(folder)).toEqual([]);
    expect(redirectOf(join(folder, "a"))).toBe(join(folder, "a/.wrangler/deploy/elsewhere.json"));
  });
});
