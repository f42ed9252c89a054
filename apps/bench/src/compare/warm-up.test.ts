import { describe, expect, it } from "vitest";
import { latency } from "../measure/statistics.ts";
import type { Measured } from "../workload/run.ts";
import type { Case } from "./cases.ts";
import { isWarm, SETTLED_FACTOR, warmUp } from "./warm-up.ts";

const CASE: Case<"send"> = { way: "send", title: "send", warmUpMessages: 300, step: 100 };

function sent(messages: number, sentPerSecond: number): Measured {
  return { messages, sentPerSecond, handledPerSecond: Number.NaN, call: latency([]), endToEnd: latency([]) };
}

/** Warms up a system whose runs have these rates, and answers with the runs. */
async function warmedUp(rates: readonly number[], warmUpsMax = 20) {
  const runs: number[] = [];
  const running = {
    run: async (_way: "send", messages: number) =>
      sent(messages, rates[runs.push(messages) - 1] ?? Number.NaN),
  };
  const messages = await warmUp(running, CASE, { runSeconds: 2, warmUpsMax, warmUpScale: 1 });
  return { messages, runs };
}

describe("a warm-up", () => {
  it("ends when three runs were no faster than the one before", async () => {
    const { runs, messages } = await warmedUp([1_000, 1_000, 900, 1_000, 7]);
    expect(runs).toHaveLength(4);
    expect(messages).toBe(2_000);
  });

  it("goes on as long as something gets faster, in spite of a slow run", async () => {
    const rates = [1_000, 1_500, 1_200, 1_900, 2_400, 2_450, 2_400, 2_450, 2_400, 7];
    expect((await warmedUp(rates)).runs).toHaveLength(8);
  });

  it("ends after so many runs at most", async () => {
    const { runs, messages } = await warmedUp([1_000, 2_000, 3_000, 4_000, 5_000, 6_000], 5);
    expect(runs).toHaveLength(5);
    expect(messages).toBe(8_000);
  });

  it("begins with the messages of its case, and sizes each run by the one before", async () => {
    expect((await warmedUp([1_000, 2_000, 500, 1_000, 500])).runs).toEqual([300, 2_000, 4_000, 1_000, 2_000]);
  });

  it("goes by what is handled where something is", async () => {
    const running = {
      run: async (_way: "send", messages: number) => ({ ...sent(messages, 9_000), handledPerSecond: 1_000 }),
    };
    expect(await warmUp(running, CASE, { runSeconds: 1, warmUpsMax: 1, warmUpScale: 1 })).toBe(1_000);
  });
});

describe("rates", () => {
  it.each([
    [[], false],
    [[1, 1, 1], false],
    [[1, 1, 1, SETTLED_FACTOR], true],
    [[1, 1, 1, SETTLED_FACTOR + 0.001], false],
    [[1, SETTLED_FACTOR + 0.001, 1, 1], false],
  ])("of %j: settled %j", (rates, expected) => {
    expect(isWarm(rates)).toBe(expected);
  });
});
