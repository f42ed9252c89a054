import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, expect, it } from "vitest";
import { BrokerLab } from "./broker-lab.ts";
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
