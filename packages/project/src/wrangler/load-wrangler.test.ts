import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import module from "node:module";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { projectFolder } from "../../test/project-folder.ts";
import { anyWrangler, findWrangler, isTooOld, WRANGLER_VERSION_MIN } from "./load-wrangler.ts";

/** A project with a Wrangler of a version. */
function projectWith(version: string): string {
  const folder = projectFolder({});
  const wrangler = join(folder, "node_modules/wrangler");
  mkdirSync(wrangler, { recursive: true });
  writeFileSync(join(wrangler, "package.json"), JSON.stringify({ version, main: "cli.js" }));
  writeFileSync(join(wrangler, "cli.js"), "");
  return folder;
}

describe("the user's Wrangler", () => {
  it("is the first that one of the project's folders has", () => {
    const [without, first, second] = [projectFolder({}), projectWith("4.99.0"), projectWith("4.98.0")];
    const found = findWrangler([without, join(first, "apps/shop/wrangler.toml"), second]);
    expect(found).toBe(join(first, "node_modules/wrangler/cli.js"));
  });

  it("is the one beside this package where the project has none", () => {
    expect(findWrangler([projectFolder({})])).toMatch(/wrangler-dist\/cli\.js$/);
  });

  it("is refused by its place and its version if it is too old", () => {
    const folder = projectWith("4.59.9");
    const place = join(folder, "node_modules/wrangler");
    expect(() => findWrangler([folder])).toThrow(
      `Sluice needs Wrangler ${WRANGLER_VERSION_MIN} or newer, and ${place} is 4.59.9. ` +
        "Install another one: npm install --save-dev wrangler@latest",
    );
  });

  it("is refused too if it is too old for what is asked of it", () => {
    const need = { who: "getPlatformProxy", oldest: "4.100.0" };
    expect(() => findWrangler([projectWith("4.99.0")], "", need)).toThrow(
      /^getPlatformProxy needs Wrangler 4\.100\.0 or newer, and /,
    );
  });

  it("gives way to the one beside this package if it is too old, which is said", () => {
    const folder = projectWith("2.14.0");
    const said: string[] = [];
    const found = findWrangler(
      [folder],
      import.meta.filename,
      anyWrangler((text) => said.push(text)),
    );
    expect(found).toMatch(/wrangler-dist\/cli\.js$/);
    expect(said).toEqual([
      expect.stringMatching(
        /^Sluice needs Wrangler 4\.60\.0 or newer, and \S+\/wrangler is 2\.14\.0\. Wrangler 4\.\d+\.\d+ of \S+ runs instead\.$/,
      ),
    ]);
  });

  it("is refused if it is too old and there is no other one that is newer", () => {
    const [folder, other] = [projectWith("2.14.0"), projectWith("4.59.0")];
    const find = () =>
      findWrangler(
        [folder],
        join(other, "sluice.js"),
        anyWrangler(() => {}),
      );
    expect(find).toThrow(/wrangler is 2\.14\.0\. Install another one/);
  });

  it("says what to do where there is none at all", () => {
    expect(() => findWrangler([projectFolder({})], join(projectFolder({}), "sluice.js"))).toThrow(
      /there is none[\s\S]*npm install --save-dev wrangler$/,
    );
  });

  it("leaves signals to this process", async () => {
    const folder = projectWith("4.99.0");
    writeFileSync(
      join(folder, "node_modules/wrangler/cli.js"),
      'for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit());',
    );
    const own = () => {};
    process.on("SIGTERM", own);
    const before = ["SIGINT", "SIGTERM"].map((signal) => process.listeners(signal as NodeJS.Signals));
    try {
      vi.resetModules();
      const { loadWrangler, takeWranglerOf } = await import("./load-wrangler.ts");
      takeWranglerOf([folder]);
      loadWrangler();
      expect(["SIGINT", "SIGTERM"].map((signal) => process.listeners(signal as NodeJS.Signals))).toEqual(
        before,
      );
    } finally {
      process.off("SIGTERM", own);
    }
  });

  it("is loaded by Node's own loader where a test runner has put another one in its place", async () => {
    const folder = projectWith("4.99.0");
    writeFileSync(join(folder, "node_modules/wrangler/cli.js"), "exports.isLoaded = true;");
    class Sandboxed extends module.Module {
      static override createRequire(): never {
        throw new Error("the test runner's own");
      }
    }
    vi.doMock("node:module", () => ({ default: Sandboxed, createRequire: module.createRequire }));
    vi.resetModules();
    try {
      const { loadWrangler, takeWranglerOf } = await import("./load-wrangler.ts");
      takeWranglerOf([folder]);
      expect(loadWrangler()).toEqual({ isLoaded: true });
    } finally {
      vi.doUnmock("node:module");
      vi.resetModules();
    }
  });

  it("has a main that can be called", () => {
    // In a process of its own: another test of this one may have imported Wrangler, which then is loaded already.
    const source = `
      import * as its from ${JSON.stringify(new URL("./load-wrangler.ts", import.meta.url).href)};
      console.log(typeof its.wranglerInternals().main, typeof its.loadWrangler().unstable_readConfig);
    `;
    const args = ["--no-warnings", "--input-type=module", "--eval", source];
    expect(execFileSync(process.execPath, args, { encoding: "utf8" })).toBe("function function\n");
  });

  it.each(["4.60.0", "4.164.0", "5.0.0", "4.60.0-beta.1", "10.0.0"])("may be %s", (version) => {
    expect(isTooOld(version)).toBe(false);
  });

  it.each(["4.59.9", "4.6.0", "3.114.0", "0.0.0"])("is too old as %s", (version) => {
    expect(isTooOld(version)).toBe(true);
  });

  it("is compared by its last number too", () => {
    expect(["4.84.0", "4.84.1", "4.84.2"].map((version) => isTooOld(version, "4.84.1"))).toEqual([
      true,
      false,
      false,
    ]);
  });
});
