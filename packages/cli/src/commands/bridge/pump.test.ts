import { describe, expect, it } from "vitest";
import { type Pumped, pump } from "./pump.ts";

/** A source that gives out batches, and a clock that goes on while somebody waits. */
function pumped(batches: number[][], changes: Partial<Pumped<number[]>> = {}) {
  const state = { nowMs: 0, passed: [] as number[], looks: 0 };
  const all: Pumped<number[]> = {
    take: async () => batches.shift() ?? [],
    forward: async (batch) => {
      state.passed.push(...batch);
      return true;
    },
    isEmpty: async () => {
      state.looks += 1;
      return false;
    },
    quietMs: 5_000,
    follow: false,
    stop: new AbortController().signal,
    lanes: 2,
    clock: {
      now: () => state.nowMs,
      wait: async (ms) => {
        state.nowMs += ms;
      },
    },
    ...changes,
  };
  return { state, all };
}

describe("pump", () => {
  it("ends when the source says that it is empty", async () => {
    const { state, all } = pumped([[1], [2, 3]], { isEmpty: async () => true });
    await pump(all);
    expect(state).toMatchObject({ passed: [1, 2, 3], nowMs: 0 });
  });

  it("ends after a quiet time otherwise: others may have messages that come back", async () => {
    const { state, all } = pumped([[1]], { lanes: 1 });
    await pump(all);
    expect(state).toEqual({ passed: [1], nowMs: 5_000, looks: 5 });
  });

  it("is quiet also where messages come that cannot be moved", async () => {
    const stuck: number[] = [];
    const { state, all } = pumped([], {
      lanes: 1,
      take: async () => (state.nowMs % 2_000 === 0 ? [7] : []),
      forward: async (batch) => {
        stuck.push(...batch);
        state.nowMs += 1;
        return false;
      },
    });
    await pump(all);
    expect(state.nowMs).toBeGreaterThanOrEqual(5_000);
    expect(stuck.length).toBeGreaterThan(0);
  });

  it("goes on with follow until it is stopped, and finishes what it has taken", async () => {
    const stopping = new AbortController();
    const batches = [[1], [], [], [2]];
    const { state, all } = pumped(batches, {
      lanes: 1,
      follow: true,
      stop: stopping.signal,
      isEmpty: async () => true,
      forward: async (batch) => {
        if (batch[0] === 2) stopping.abort();
        state.passed.push(...batch);
        return true;
      },
    });
    await pump(all);
    expect(state.passed).toEqual([1, 2]);
  });

  it("throws the failure of a lane, once the others have finished what they have taken", async () => {
    const other = Promise.withResolvers<void>();
    const { state, all } = pumped([[1], [2], [3]], {
      forward: async ([number = 0]) => {
        if (number === 1) {
          queueMicrotask(() => queueMicrotask(other.resolve));
          throw new Error("refused");
        }
        await other.promise;
        state.passed.push(number);
        return true;
      },
    });
    await expect(pump(all)).rejects.toThrow("refused");
    expect(state.passed).toEqual([2]);
  });
});
