import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import { BrokerLab } from "./broker-lab.ts";
import { HAS_SCRIPT, OnTerminal } from "./on-terminal.ts";
import { SLUICE } from "./running.ts";

/* Output of a command into a pipe, which holds 65,536 bytes. */

const lab = new BrokerLab();
const COUNT = 300;
let url: string;

beforeAll(async () => {
  url = await lab.serve();
  await lab.run(["queues", "create", "jobs"]);
  await lab.run(["import", "jobs"], {
    input: `${JSON.stringify({ body: "x".repeat(1_000) })}\n`.repeat(COUNT),
  });
});
afterAll(() => lab.close());

const PEEK = ["messages", "peek", "jobs", "--limit", `${COUNT}`, "--json"];

it("a command has written all of its output when it ends", async () => {
  const running = lab.spawn(PEEK);
  expect(await running.ended).toBe(0);
  expect((JSON.parse(running.output) as { messages: unknown[] }).messages).toHaveLength(COUNT);
});

it("a command whose reader takes the first line alone ends without a word", () => {
  const line = [process.execPath, SLUICE, ...PEEK, "--url", url].map((word) => `'${word}'`).join(" ");
  const { stdout, stderr } = spawnSync("/bin/sh", ["-c", `${line} | head -n 1; true`], { encoding: "utf8" });
  expect([stdout, stderr]).toEqual(["{\n", ""]);
});

it.runIf(existsSync("/dev/full"))("a command whose output has no room fails and says so", () => {
  for (const args of [PEEK, ["queues", "list"], ["tokens", "create", "deploy", "--scope", "read"]]) {
    const line = [process.execPath, SLUICE, ...args, "--url", url].map((word) => `'${word}'`).join(" ");
    const { status, stderr } = spawnSync("/bin/sh", ["-c", `${line} > /dev/full`], { encoding: "utf8" });
    expect([status, stderr]).toEqual([1, expect.stringContaining("cannot be written: ENOSPC")]);
  }
});

it.runIf(HAS_SCRIPT).each([
  ["Ctrl-C", "\u0003"],
  ["Ctrl-D", "\u0004"],
])("%s at a question changes nothing, and shows no stack", async (_, key) => {
  const running = new OnTerminal(["queues", "purge", "jobs", "--url", url], lab.folder, process.env);
  await running.printed(/Type jobs to go on: /);
  running.type(key);
  expect([await running.ended, running.output]).toEqual([5, expect.stringContaining("Nothing was changed.")]);
  expect(running.output).not.toContain("    at ");
});
