import { describe, expect, it } from "vitest";
import {
  LATER_SYNC_MS,
  LONE_AFTER_TURNS,
  LONE_TURNS_PER_MS_MAX,
  LoneTurns,
  NEARBY_SYNC_MS_MAX,
} from "./lone-turns.ts";

/** Lone turns on a clock that stands until it is moved. */
function setUp() {
  const state = { nowMs: 1_000, syncFails: false };
  const timers: { callback: () => void; ms: number }[] = [];
  const failures: unknown[] = [];
  let syncs = 0;
  const turns = new LoneTurns({
    nowMs: () => state.nowMs,
    after: (callback, ms) => timers.push({ callback, ms }),
    synced: () => {
      syncs += 1;
      return state.syncFails ? Promise.reject(new Error("the disk was lost")) : Promise.resolve();
    },
    failed: (error) => failures.push(error),
  });
  /** A turn of one job: whether it needed no wait. What waits does so for `ms`, and finds so much company. */
  const turn = ({ jobs = 1, ms = 0, company = 0 } = {}) => {
    if (turns.take(jobs)) return true;
    const sinceMs = state.nowMs;
    state.nowMs += ms;
    turns.waited(sinceMs, company);
    return false;
  };
  const become = () => {
    for (let i = 0; i < LONE_AFTER_TURNS; i++) expect(turn()).toBe(false);
  };
  return { state, timers, failures, turn, become, syncs: () => syncs };
}

describe("a turn needs no wait for its sync", () => {
  it("once several turns of one job each have found no company", () => {
    const { turn, become } = setUp();
    become();
    expect(turn()).toBe(true);
  });

  it.each([
    ["has several jobs", { jobs: 2 }],
    ["found company while it was waited for", { company: 1 }],
  ])("but not after one that %s: then it takes as many again", (_, other) => {
    const { state, turn, become } = setUp();
    become();
    expect(turn({ jobs: 2, ...other })).toBe(false);
    const again = "company" in other ? LONE_AFTER_TURNS : LONE_AFTER_TURNS - 1;
    for (let i = 0; i < again; i++) expect(turn()).toBe(false);
    state.nowMs += 1;
    expect(turn()).toBe(true);
  });

  it.each([
    [NEARBY_SYNC_MS_MAX, true],
    [NEARBY_SYNC_MS_MAX + 1, false],
  ])("where the last sync took %i ms: %s", (ms, expected) => {
    const { turn } = setUp();
    for (let i = 0; i < LONE_AFTER_TURNS; i++) turn({ ms });
    expect(turn()).toBe(expected);
  });

  it("only so often in a ms: who awaits each answer makes no more, so others must be there", () => {
    const { state, turn, become } = setUp();
    become();
    for (let i = 0; i < LONE_TURNS_PER_MS_MAX; i++) expect(turn()).toBe(true);
    expect(turn()).toBe(false);
    state.nowMs += 1;
    expect(turn()).toBe(true);
  });
});

describe("the sync that a turn did not wait for", () => {
  it("is asked for later, once for all turns of that time", async () => {
    const { turn, become, timers, syncs } = setUp();
    become();
    turn();
    turn();
    expect(timers.map(({ ms }) => ms)).toEqual([LATER_SYNC_MS]);
    expect(syncs()).toBe(0);
    timers[0]?.callback();
    expect(syncs()).toBe(1);
    turn();
    expect(timers).toHaveLength(2);
  });

  it("says what was not made durable", async () => {
    const { state, turn, become, timers, failures } = setUp();
    become();
    turn();
    state.syncFails = true;
    timers[0]?.callback();
    await Promise.resolve();
    await Promise.resolve();
    expect(failures).toEqual([new Error("the disk was lost")]);
  });
});
