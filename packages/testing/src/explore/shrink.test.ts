import { describe, expect, it } from "vitest";
import type { Fault } from "../api.ts";
import { type Recipe, shrink } from "./shrink.ts";

const fault = (kind: Fault["kind"], message: number, attempt = 1, arg?: number): Fault => ({
  kind,
  message,
  attempt,
  ...(arg === undefined ? {} : { arg }),
});

/** Shrinks a history by a predicate, and counts its calls. */
async function shrunk(found: Recipe, isBroken: (recipe: Recipe) => boolean) {
  let runs = 0;
  const recipe = await shrink(found, async (candidate) => {
    runs += 1;
    return isBroken(candidate) ? candidate : null;
  });
  return { recipe, runs };
}

describe("shrink", () => {
  it("leaves out faults that are not needed", async () => {
    const faults = Array.from({ length: 40 }, (_, i) => fault("split", i + 1));
    const { recipe, runs } = await shrunk({ faults, choices: [] }, (candidate) =>
      [7, 23].every((message) => candidate.faults.some((each) => each.message === message)),
    );
    expect(recipe.faults).toEqual([fault("split", 7), fault("split", 23)]);
    expect(runs).toBeLessThan(120);
  });

  it("makes choices smaller, and faults those of the first messages", async () => {
    // Six messages, of which the fifth comes twice, although one would do.
    const found = { faults: [fault("duplicate", 5)], choices: [5, 3, 9] };
    const { recipe } = await shrunk(found, ({ faults: [only], choices: [count = 0] }) => {
      return only !== undefined && only.message <= count + 1;
    });
    expect(recipe).toEqual({ faults: [fault("duplicate", 1)], choices: [] });
  });

  it("makes faults weaker, earlier and shorter", async () => {
    const found = { faults: [fault("crash", 1, 3), fault("reorder", 2, 1, 43_200)], choices: [] };
    const { recipe } = await shrunk(found, ({ faults }) => {
      const [first, second] = faults;
      return first?.message === 1 && first.kind !== "duplicate" && (second?.arg ?? 0) > 0;
    });
    expect(recipe.faults).toEqual([fault("lostAck", 1, 1), fault("reorder", 1, 1, 1)]);
  });

  it("ends a handler at the earliest call that breaks the history where there are fewer messages", async () => {
    // Each message makes three calls, and the history breaks after the second call of any.
    const found = { faults: [fault("endAfter", 3, 1, 8)], choices: [3] };
    const { recipe } = await shrunk(found, ({ faults: [only], choices: [count = 0] }) => {
      const call = only?.arg ?? 1;
      return (
        only?.kind === "endAfter" && only.message <= count + 1 && call % 3 === 2 && call <= 3 * (count + 1)
      );
    });
    expect(recipe).toEqual({ faults: [fault("endAfter", 1, 1, 2)], choices: [] });
  });

  it("returns the history itself where none smaller breaks", async () => {
    const found = { faults: [fault("crash", 2, 2)], choices: [4] };
    expect((await shrunk(found, () => false)).recipe).toEqual(found);
  });
});
