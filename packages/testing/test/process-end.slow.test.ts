import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { installedProject } from "./installed-project.ts";

let folder: string;
beforeAll(() => {
  // The packed package starts in a fraction of the processor time of the source.
  folder = installedProject("mails", { beside: [] });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a file, and resolves when its process has ended. */
async function run(args: readonly string[], code: string, temporary = mkdtempSync(join(folder, "tmp-"))) {
  const file = join(folder, "some.test.mjs");
  writeFileSync(
    file,
    `import assert from "node:assert";
     import { it } from "node:test";
     import { createQueueRuntime } from "@sluice/testing";
     const workers = [".", "reports"];
     const start = (options) => createQueueRuntime({ workers, log: () => {}, ...options });
     ${code}`,
  );
  // A runner within a test's process passes its results on instead of printing them.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, ["--no-warnings", ...args, file], {
    cwd: folder,
    env: { ...env, TMPDIR: temporary },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [printed, [exitCode]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  const left = readdirSync(temporary).filter((name) => /^(sluice|miniflare)-/.test(name));
  return { code: exitCode, printed, left, temporary };
}

it("a test that fails before it disposes of its runtime does not keep Node's runner from ending", async () => {
  const { code, printed, left } = await run(
    ["--test", "--test-reporter=tap"],
    `
    it("fails", async () => {
      const queues = await start();
      await queues.env.MAILS.send({ to: "ada@example.com" });
      await queues.runUntilIdle();
      assert.fail("on purpose");
    });
  `,
  );
  expect(printed).toContain("on purpose");
  expect({ code, left }).toEqual({ code: 1, left: [] });
});

it("a process stays alive while it waits for a Worker's own actions", async () => {
  const { code, printed, left } = await run(
    [],
    `const { promise, resolve } = Promise.withResolvers();
     const queues = await start({ outbound: ({ url }) => (resolve(url), new Response()) });
     await (await queues.fetch("/later")).text();
     console.log(await promise);`,
  );
  expect({ code, printed, left }).toEqual({
    code: 0,
    printed: "https://api.mail.example.com/later\n",
    left: [],
  });
});

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it("workerd ends with a killed process, and the next process deletes its files", async () => {
  const killed = await run(
    [],
    `import { subscribe } from "node:diagnostics_channel";
     const started = [];
     subscribe("child_process", ({ process: child }) => child.once("spawn", () => started.push(child)));
     const queues = await start();
     await queues.env.MAILS.send({ to: "ada@example.com" });
     console.log(started.find(({ spawnargs }) => spawnargs.includes("--control-fd=3")).pid);
     process.kill(process.pid, "SIGKILL");`,
  );
  expect(killed).toMatchObject({ code: null, left: [expect.stringMatching(/^sluice-testing-/)] });
  const pid = Number(killed.printed);
  expect(pid).toBeGreaterThan(0);
  await expect.poll(() => isRunning(pid)).toBe(false);
  const { code, left } = await run([], "await (await start())[Symbol.asyncDispose]();", killed.temporary);
  expect({ code, left }).toEqual({ code: 0, left: [] });
});
