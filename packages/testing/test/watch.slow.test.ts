import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { installedProject } from "./installed-project.ts";

let project: string;
let vitest: ChildProcess;
let printed = "";

beforeAll(() => {
  project = installedProject("mails", { beside: ["vitest"] });
  const args = [join(project, "node_modules/vitest/vitest.mjs"), "--watch", "--reporter=verbose"];
  const { VITEST: _, ...env } = process.env;
  vitest = spawn(process.execPath, args, {
    cwd: project,
    env: { ...env, NO_COLOR: "1", CI: "" },
    stdio: ["ignore", "pipe", "ignore"],
  });
  vitest.stdout?.on("data", (chunk) => {
    printed += chunk;
  });
});
afterAll(async () => {
  const exit = once(vitest, "exit");
  vitest.kill();
  await exit;
  rmSync(project, { recursive: true, force: true });
});

it("editing a Worker runs its tests again", async () => {
  await expect.poll(() => printed).toMatch(/ 1 passed[\s\S]*Waiting for file changes/);
  const file = join(project, "src/index.ts");
  printed = "";
  writeFileSync(file, readFileSync(file, "utf8").replace("from: env.FROM, to: body.to", "from: env.FROM"));
  await expect.poll(() => printed).toMatch(/ 1 failed[\s\S]*Watching for file changes/);
});
