import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { projectFolder } from "../../test/project-folder.ts";
import { ownFolder, sweepLeftovers } from "./leftovers.ts";

it("a sweep removes the folders of processes that have ended, and no others", () => {
  const parent = projectFolder({});
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  const dead = join(parent, `sluice-wrangler-${pid}-abcdef`);
  const bundle = join(parent, `sluice-bundle-${pid}-abcdef`);
  const others = [`sluice-wrangler-${pid}`, `wrangler-${pid}-abcdef`, `sluice-e2e-${pid}-abcdef`];
  for (const folder of [dead, bundle, ...others.map((name) => join(parent, name))]) mkdirSync(folder);
  writeFileSync(join(dead, "secrets.json"), "{}");
  const own = ownFolder("wrangler", parent);
  // The first process is another user's, unless this one may ask it.
  const foreign = join(parent, "sluice-wrangler-1-abcdef");
  mkdirSync(foreign);
  sweepLeftovers(parent);
  expect([dead, bundle].filter((folder) => existsSync(folder))).toEqual([]);
  expect([own, foreign, ...others.map((name) => join(parent, name))].every(existsSync)).toBe(true);
  rmSync(parent, { recursive: true });
});
