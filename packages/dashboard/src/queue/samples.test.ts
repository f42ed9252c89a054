import { describe, expect, it } from "vitest";
import { eventView } from "../../test/views.ts";
import type { EventView } from "../api/call.ts";
import { SAMPLED_SECONDS, Samples } from "./samples.ts";

const NOW_MS = 1_700_000_000_000;
const at = (seconds: number) => new Date(NOW_MS + 1_000 * seconds).toISOString();

const event = (changes: Partial<EventView>) => eventView({ at: at(0), ...changes });

const last = (column: readonly (number | null)[], count: number) => column.slice(-count);

describe("samples of a queue", () => {
  it("count what comes in, what is done and what goes wrong by the second", () => {
    const samples = new Samples();
    samples.knowsSince(NOW_MS - 2_000);
    samples.addEvent(event({ at: at(-1), messages: 3 }));
    samples.addEvent(event({ kind: "arrived" }));
    samples.addEvent(event({ kind: "acked", messages: 2 }));
    samples.addEvent(event({ kind: "retried" }));
    samples.addEvent(event({ kind: "failed" }));
    const columns = samples.columns(NOW_MS);
    expect(columns.seconds.at(-1)).toBe(NOW_MS / 1_000);
    expect(last(columns.in, 4)).toEqual([null, 0, 3, 1]);
    expect(last(columns.out, 3)).toEqual([0, 0, 2]);
    expect(last(columns.bad, 3)).toEqual([0, 0, 1]);
  });

  it("spread merged events over their time", () => {
    const samples = new Samples();
    samples.knowsSince(NOW_MS - 10_000);
    const tookMs = [0, 0, 98, 0, 0, 0, 0, 2, 0, 0];
    const merged = { until: at(-1), events: 100, tookMs };
    const many = event({ kind: "acked", at: at(-2), messages: 1_000, merged });
    samples.addEvent(many);
    samples.addDuration(many);
    const { out, p50, p99 } = samples.columns(NOW_MS);
    expect(last(out, 3)).toEqual([500, 500, 0]);
    expect(p50.at(-2)).toBeGreaterThanOrEqual(10);
    expect(p50.at(-2)).toBeLessThan(13);
    expect(p99.at(-2)).toBeGreaterThanOrEqual(5_000);
    expect(p99.at(-1)).toBeNull();
  });

  it("have percentiles that are exact within a quarter", () => {
    const samples = new Samples();
    for (let i = 1; i <= 100; i++) samples.addDuration(event({ kind: "acked", tookMs: i }));
    const { p50, p99 } = samples.columns(NOW_MS);
    expect(p50.at(-1)).toBeGreaterThanOrEqual(50);
    expect(p50.at(-1)).toBeLessThanOrEqual(50 * 1.25);
    expect(p99.at(-1)).toBeGreaterThanOrEqual(99);
    expect(p99.at(-1)).toBeLessThanOrEqual(99 * 1.25);
  });

  it("count by what a queue's totals have grown, from the first ones on", () => {
    const samples = new Samples();
    const figures = (seconds: number, totals: object) =>
      samples.addFigures({
        name: "orders",
        now: at(seconds),
        messages: { ready: 2, delayed: 1, leased: 0 },
        backlogBytes: 1,
        oldestMessageAt: at(seconds - 5),
        isOn: true,
        totals,
        tookMs: [],
        rates: null,
      });
    figures(-3, { accepted: 1_000, acked: 900 });
    figures(-2, { accepted: 1_010, acked: 903, arrived: 1 });
    figures(-2, { accepted: 1_020, acked: 903, arrived: 1, retried: 2 });
    // It fell asleep and woke up.
    figures(-1, { accepted: 3 });
    samples.forgetTotals();
    figures(0, { accepted: 500 });
    const columns = samples.columns(NOW_MS);
    expect(last(columns.in, 5)).toEqual([null, 0, 21, 0, 0]);
    expect(last(columns.out, 3)).toEqual([3, 0, 0]);
    expect(last(columns.bad, 3)).toEqual([2, 0, 0]);
    expect(last(columns.waiting, 2)).toEqual([3, 3]);
    expect(last(columns.oldest, 2)).toEqual([5, 5]);
  });

  it("keep a level until another one is known, while the oldest message grows older", () => {
    const samples = new Samples();
    samples.addLevel(NOW_MS - 3_000, 7, 60_000);
    samples.addLevel(NOW_MS - 1_000, 0, null);
    const { waiting, oldest } = samples.columns(NOW_MS);
    expect(last(waiting, 5)).toEqual([null, 7, 7, 0, 0]);
    expect(last(oldest, 5)).toEqual([null, 60, 61, 0, 0]);
  });

  it("forget what is older than they look back, and take nothing of it in", () => {
    const samples = new Samples();
    samples.knowsSince(0);
    samples.addEvent(event({ messages: 5 }));
    const later = samples.columns(NOW_MS + 1_000 * SAMPLED_SECONDS);
    expect(later.in.every((count) => count === 0)).toBe(true);
    samples.addEvent(event({ messages: 5 }));
    expect(samples.columns(NOW_MS + 1_000 * SAMPLED_SECONDS).in.every((count) => count === 0)).toBe(true);
    expect(later.seconds).toHaveLength(SAMPLED_SECONDS);
  });
});
