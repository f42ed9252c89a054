import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { createQueueRuntime, explore, type QueueRuntime } from "../src/index.ts";

interface Env {
  readonly JOBS: { send(body: string): Promise<unknown> };
}

const folder = mkdtempSync(join(tmpdir(), "sluice-printed-"));
const shown: string[] = [];
let queues: QueueRuntime<Env>;

beforeAll(async () => {
  const config = {
    name: "jobs",
    main: "index.js",
    compatibility_date: "2026-01-20",
    queues: { producers: [{ binding: "JOBS", queue: "jobs" }], consumers: [{ queue: "jobs" }] },
  };
  writeFileSync(join(folder, "wrangler.json"), JSON.stringify(config));
  writeFileSync(
    join(folder, "index.js"),
    `export default {
       async queue({ messages }) {
         for (const { body } of messages) {
           console.log("done:", body);
           console.warn("warned:", body);
         }
       },
     };`,
  );
  queues = await createQueueRuntime<Env>({ workers: ["wrangler.json"], root: folder });
});
beforeEach(async () => {
  await queues.reset();
  for (const stream of ["stdout", "stderr"] as const) {
    vi.spyOn(process[stream], "write").mockImplementation((text) => shown.push(`${stream} ${text}`) > 0);
  }
});
afterEach(() => {
  vi.restoreAllMocks();
  shown.length = 0;
});
afterAll(async () => {
  await queues?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** Lines of a delivery of this message. */
const linesOf = (body: string) => [`stdout done: ${body}\n`, `stderr warned: ${body}\n`];

it("what handlers print is shown: warnings and errors on standard error, all else on standard output", async () => {
  await queues.env.JOBS.send("lamp");
  await queues.runUntilIdle();
  await expect.poll(() => shown).toEqual(linesOf("lamp"));
});

it("explore shows what is printed in the history that it reports, and in no other", async () => {
  let histories = 0;
  const act = () => {
    histories += 1;
    return queues.env.JOBS.send(`job ${histories}`);
  };
  const explored = explore({
    runtime: queues,
    act,
    holds: () => histories < 3,
    seed: 1,
    timeoutMs: Infinity,
  });
  await expect(explored).rejects.toThrow("Broken in history 3");
  await queues.env.JOBS.send("afterwards");
  await queues.runUntilIdle();
  await expect.poll(() => shown.at(-1)).toBe(linesOf("afterwards")[1]);
  // The last history may deliver its message more than once.
  expect([...new Set(shown)]).toEqual([`job ${histories}`, "afterwards"].flatMap(linesOf));
  expect(histories).toBeGreaterThan(3);
});

it("explore shows what is printed in a history that is given", async () => {
  const act = () => queues.env.JOBS.send("lamp");
  await explore({ runtime: queues, act, holds: () => true, seed: 1, history: [] });
  await expect.poll(() => shown).toEqual(linesOf("lamp"));
});

it("explore says on standard error that its time was over before all histories were run, and nothing when it ran all", async () => {
  const spec = { runtime: queues, act: () => {}, holds: () => true, seed: 1 };
  await explore({ ...spec, timeoutMs: 1 });
  expect(shown).toEqual([
    expect.stringMatching(/^stderr explore: 1 of 500 histories in [\d.]+ s, none broken, .+\n$/),
  ]);
  shown.length = 0;
  await explore({ ...spec, histories: 2, timeoutMs: Infinity });
  expect(shown).toEqual([]);
});
