import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { WRANGLER_VERSION_MIN } from "@sluice/project/wrangler/load-wrangler";
import { describe, expect, it } from "vitest";

const MANIFEST = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

describe("the package", () => {
  it("runs with the user's Wrangler, from the oldest tested version on", () => {
    expect(MANIFEST.peerDependencies).toEqual({ wrangler: `^${WRANGLER_VERSION_MIN}` });
    const { devDependencies } = JSON.parse(
      readFileSync(new URL("../../../check/package.json", import.meta.url), "utf8"),
    );
    expect(devDependencies["wrangler-4.60"]).toBe(`npm:wrangler@${WRANGLER_VERSION_MIN}`);
  });

  it("has no dependency that only this workspace has", () => {
    for (const range of Object.values(MANIFEST.dependencies)) expect(range).toMatch(/^\d/);
  });

  it.each(["cli", "testing", "vite"])("%s is not packed by npm, whose archive would be broken", (name) => {
    const cwd = join(import.meta.dirname, "../..", name);
    // As a user of npm runs it: pnpm, which runs the tests, says who it is.
    const { npm_config_user_agent: _, ...env } = process.env;
    const { status, stderr } = spawnSync("npm", ["pack", "--dry-run"], { cwd, env, encoding: "utf8" });
    expect(status).toBe(1);
    expect(stderr).toMatch(/Only pnpm packs \S+ as it is published: npx -y pnpm@\S+ --filter \S+ pack/);
  });
});
