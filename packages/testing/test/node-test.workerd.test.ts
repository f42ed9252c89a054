import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";

const SOURCE = JSON.stringify(new URL("../src/index.ts", import.meta.url).href);
const FIXTURES = fileURLToPath(new URL("fixtures", import.meta.url));
const WORKERS = JSON.stringify([join(FIXTURES, "mails"), join(FIXTURES, "mails/reports")]);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-node-test-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a file of tests by Node's runner, and resolves when that has ended by itself. */
async function run(code: string): Promise<{ code: number; printed: string; left: string[] }> {
  const file = join(folder, "some.test.mjs");
  writeFileSync(
    file,
    `import assert from "node:assert";
     import { it } from "node:test";
     import { createQueueRuntime } from ${SOURCE};
     const start = (options) => createQueueRuntime({ workers: ${WORKERS}, log: () => {}, ...options });
     ${code}`,
  );
  const temporary = mkdtempSync(join(folder, "tmp-"));
  const args = ["--no-warnings", "--test", "--test-reporter=tap", file];
  // A test within a test's process tells that one its results instead of printing them.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const runner = spawn(process.execPath, args, {
    env: { ...env, TMPDIR: temporary },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [printed, [exitCode]] = await Promise.all([text(runner.stdout), once(runner, "exit")]);
  return {
    code: exitCode,
    printed,
    left: readdirSync(temporary).filter((name) => name.startsWith("sluice-")),
  };
}

it("a test that fails before it disposes of its runtime does not keep Node's runner from ending", async () => {
  const { code, printed, left } = await run(`
    it("fails", async () => {
      const queues = await start();
      await queues.env.MAILS.send({ to: "ada@example.com" });
      await queues.runUntilIdle();
      assert.fail("on purpose");
    });
  `);
  expect(printed).toContain("on purpose");
  expect({ code, left }).toEqual({ code: 1, left: [] });
});

it("Node's runner waits for a test that waits for what a Worker does by itself", async () => {
  const { code, printed, left } = await run(`
    it("waits", async () => {
      const { promise, resolve } = Promise.withResolvers();
      await using queues = await start({ outbound: ({ url }) => (resolve(url), new Response()) });
      await queues.fetch("/later");
      assert.equal(await promise, "https://api.mail.example.com/later");
    });
  `);
  expect(printed).toContain("ok 1 - waits");
  expect({ code, left }).toEqual({ code: 0, left: [] });
});
