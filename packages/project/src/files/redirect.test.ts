import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { projectFolder } from "../../test/project-folder.ts";
import { readRedirect, shieldFoldersBelow, writeRedirect } from "./redirect.ts";

/** Reads the redirect that Wrangler follows in a folder. */
const BUILT =
  '{"configPath":"../../dist/web/wrangler.json","auxiliaryWorkers":[{"configPath":"../../dist/mailer/wrangler.json"}]}';

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

  it("stores the build tool's redirect that it replaced, over several runs, until the tool's next one", () => {
    const folder = projectFolder({ ".wrangler/deploy/config.json": BUILT });
    const ours = join(folder, ".sluice/api/wrangler.json");
    const toolsOwn = {
      configFile: join(folder, "dist/web/wrangler.json"),
      auxiliary: [join(folder, "dist/mailer/wrangler.json")],
    };
    expect(readRedirect(folder)).toEqual(toolsOwn);
    writeRedirect(folder, ours);
    writeRedirect(folder, ours);
    expect(readRedirect(folder)).toEqual({ configFile: ours, auxiliary: [], insteadOf: toolsOwn });
    writeFileSync(
      join(folder, ".wrangler/deploy/config.json"),
      '{ "configPath": "../../dist/wrangler.json" }',
    );
    expect(readRedirect(folder)).toEqual({ configFile: join(folder, "dist/wrangler.json"), auxiliary: [] });
  });

  it("stores that there was no redirect of a build tool", () => {
    const folder = projectFolder({});
    expect(readRedirect(folder)).toBeNull();
    writeRedirect(folder, join(folder, ".sluice/api/wrangler.json"));
    expect(readRedirect(folder)?.insteadOf).toBeNull();
  });
});

describe("shieldFoldersBelow", () => {
  it("leads every Worker below, at any depth, to its own configuration", () => {
    const folder = projectFolder({ "a/wrangler.toml": "", "b/c/wrangler.jsonc": "{}", "d/index.js": "" });
    expect(shieldFoldersBelow(folder)).toEqual([join(folder, "a"), join(folder, "b/c")]);
    expect(redirectOf(join(folder, "a"))).toBe(join(folder, "a/wrangler.toml"));
    expect(redirectOf(join(folder, "b/c"))).toBe(join(folder, "b/c/wrangler.jsonc"));
    expect(existsSync(join(folder, "d/.wrangler"))).toBe(false);
  });

  it("leaves a build tool's output alone", () => {
    const folder = projectFolder({ "dist/web/wrangler.json": "{}", "mailer/wrangler.json": "{}" });
    expect(shieldFoldersBelow(folder, [join(folder, "dist/web")])).toEqual([join(folder, "mailer")]);
  });

  it("leaves a folder with a redirect of its own alone, and ignores packages and hidden folders", () => {
    const folder = projectFolder({
      "a/wrangler.toml": "",
      "a/.wrangler/deploy/config.json": '{"configPath":"elsewhere.json"}',
      "node_modules/p/wrangler.toml": "",
      ".hidden/wrangler.toml": "",
    });
    expect(shieldFoldersBelow(folder)).toEqual([]);
    expect(redirectOf(join(folder, "a"))).toBe(join(folder, "a/.wrangler/deploy/elsewhere.json"));
  });

  it("passes over a folder that may not be read", () => {
    const folder = projectFolder({ "a/volume/file": "", "b/wrangler.toml": "" });
    for (const open of [folder, join(folder, "b")]) chmodSync(open, 0o777);
    const volume = join(folder, "a/volume");
    chmodSync(volume, 0);
    onTestFinished(() => chmodSync(volume, 0o700));
    expect(asUser(() => shieldFoldersBelow(folder))).toEqual([join(folder, "b")]);
  });
});

/** Runs something as a user who may not read everything. */
function asUser<T>(run: () => T): T {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    return run();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}
