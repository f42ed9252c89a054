import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { startCronTriggers } from "./cron-triggers.ts";

/** A Monday. */
const START = new Date("2026-11-23T05:59:30Z");

beforeEach(() => {
  vi.useFakeTimers({ now: START });
});
afterEach(() => {
  vi.useRealTimers();
});

/**
 * Runs cron triggers for the next hours; answers the calls and warnings of these and of the day after they are stopped.
 */
async function callsOf(crons: readonly string[], hours: number, isRunning = () => true) {
  const calls: string[] = [];
  const warnings: string[] = [];
  const files = { "wrangler.json": JSON.stringify({ triggers: { crons } }) };
  const worker = {
    name: "stock",
    files,
    directory: "",
    configFile: "",
    userDirectory: "",
    wranglerDirectory: null,
  };
  const workerd = {
    ports: { http: 1, broker: 2 },
    ended: Promise.resolve(0),
    kill: () => {},
    schedule: async (name: string, cron: string, at: Date) => {
      calls.push(`${name} ${cron} ${at.toISOString()}`);
      if (cron.startsWith("13 ")) throw new Error("no luck");
    },
  };
  const triggers = startCronTriggers(
    [worker],
    () => (isRunning() ? workerd : null),
    (text) => warnings.push(text),
  );
  await vi.advanceTimersByTimeAsync(hours * 3_600_000);
  triggers.stop();
  await vi.advanceTimersByTimeAsync(86_400_000);
  return { calls, warnings };
}

it("a cron trigger comes at its minutes, in UTC, until it is stopped", async () => {
  const { calls } = await callsOf(["0,30 6 * * *"], 30);
  expect(calls).toEqual([
    "stock 0,30 6 * * * 2026-11-23T06:00:00.000Z",
    "stock 0,30 6 * * * 2026-11-23T06:30:00.000Z",
    "stock 0,30 6 * * * 2026-11-24T06:00:00.000Z",
    "stock 0,30 6 * * * 2026-11-24T06:30:00.000Z",
  ]);
});

it("the first day of the week is Sunday, as Cloudflare counts, and days have names", async () => {
  const { calls } = await callsOf(["0 6 * * 2", "0 7 * * MON", "0 7 * * 1"], 2);
  expect(calls).toEqual([
    "stock 0 6 * * 2 2026-11-23T06:00:00.000Z",
    "stock 0 7 * * MON 2026-11-23T07:00:00.000Z",
  ]);
});

it("times at which no workerd runs are left out", async () => {
  const { calls } = await callsOf(["0 * * * *"], 3, () => Date.now() > START.getTime() + 3_600_000);
  expect(calls).toEqual([
    "stock 0 * * * * 2026-11-23T07:00:00.000Z",
    "stock 0 * * * * 2026-11-23T08:00:00.000Z",
  ]);
});

it("one that cannot be called is told of, and comes again", async () => {
  const { calls, warnings } = await callsOf(["13 * * * *"], 2);
  expect(calls).toHaveLength(2);
  expect(warnings).toEqual(
    Array(2).fill('Worker "stock": its cron trigger "13 * * * *" failed: Error: no luck'),
  );
});
