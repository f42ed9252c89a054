import { beginsAfterMs, countsAfter, type LastEnd } from "@sluice/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { STEADY_MS } from "./keep-running.ts";
import {
  CLEARED_AFTER_MS,
  consequence,
  judge,
  NO_SUSPICION,
  ROUNDS_MAX,
  SLOT_MS,
  SUSPECTS_MAX,
  type Suspicion,
} from "./suspects.ts";

const NAMES = ["a", "b", "c", "d", "e", "f", "g", "h"];
const soon = { ranMs: 1_000 };

function subsetsOf(names: readonly string[]): string[][] {
  return names.reduce<string[][]>((sets, name) => sets.flatMap((set) => [set, [...set, name]]), [[]]);
}

/** Workers that can have begun in a runtime by the moment at which a culprit begins, which ends it at once. */
function companions(workers: readonly string[], culprit: string, end: LastEnd): string[] {
  const atMs = beginsAfterMs(end, culprit);
  return workers.filter((worker) => {
    const ownMs = beginsAfterMs(end, worker);
    // At the very start the first is not alone only where nobody is held.
    return worker !== culprit && (ownMs < atMs || (ownMs === atMs && (atMs > 0 || end.kind === "unplanned")));
  });
}

/**
 * Follows ends until one counts, over every choice of which innocents are in delivery at each of them.
 *
 * @returns the most ends that it took.
 */
function follow(
  workers: readonly string[],
  culprit: string,
  end: LastEnd,
  suspicion: Suspicion,
  known = new Map<string, number>(),
): number {
  const key = JSON.stringify([end, suspicion]);
  const before = known.get(key);
  if (before !== undefined) return before;
  let most = 0;
  for (const innocents of subsetsOf(companions(workers, culprit, end))) {
    const next = judge(suspicion, { workers: [...innocents, culprit], ...soon });
    const charged = workers.filter((worker) => countsAfter(next.end, worker));
    if (charged.length === 0) {
      most = Math.max(most, 1 + follow(workers, culprit, next.end, next.suspicion, known));
      continue;
    }
    expect(charged).toEqual([culprit]);
    expect(next.suspicion).toBe(NO_SUSPICION);
    most = Math.max(most, 1);
  }
  known.set(key, most);
  return most;
}

describe("the Worker whose handler ends the runtime each time", () => {
  it.each([1, 2, 3, 4, 5])(
    "is found and charged, and no other, whoever else is in delivery: %i Workers",
    (count) => {
      const workers = NAMES.slice(0, count);
      const ends = workers.map((culprit) => follow(workers, culprit, { kind: "unplanned" }, NO_SUSPICION));
      // Each end more has another one alone. The first end may have all of them.
      expect(Math.max(...ends)).toBeLessThanOrEqual(count + 1);
      expect(Math.max(...ends)).toBe(count === 1 ? 1 : count + 1);
    },
  );

  it("is found among several of its kind without an innocent that is charged", () => {
    const culprits = ["b", "d"];
    const choice = fc.array(fc.tuple(fc.constantFrom(...culprits), fc.nat()), {
      minLength: 12,
      maxLength: 12,
    });
    fc.assert(
      fc.property(choice, (choices) => {
        const workers = NAMES.slice(0, 5);
        let end: LastEnd = { kind: "unplanned" };
        let suspicion = NO_SUSPICION;
        let wasCharged = false;
        for (const [any, which] of choices) {
          // The one that begins first ends it.
          const [culprit = any] = culprits
            .filter((each) =>
              culprits.every((other) => beginsAfterMs(end, each) <= beginsAfterMs(end, other)),
            )
            .filter((each, _, first) => first.length === 1 || each === any);
          const sets = subsetsOf(companions(workers, culprit, end));
          const innocents = sets[which % sets.length] ?? [];
          ({ end, suspicion } = judge(suspicion, { workers: [...innocents, culprit], ...soon }));
          const charged = workers.filter((worker) => countsAfter(end, worker));
          expect(culprits).toEqual(expect.arrayContaining(charged));
          wasCharged ||= charged.length > 0;
        }
        expect(wasCharged).toBe(true);
      }),
    );
  });
});

describe("ends of a runtime", () => {
  it("charge everything in the end, whoever is in delivery at each of them and however many Workers there are", () => {
    fc.assert(
      fc.property(
        fc.array(fc.uniqueArray(fc.constantFrom(...NAMES)), { minLength: 60, maxLength: 60 }),
        (ends) => {
          let suspicion = NO_SUSPICION;
          let open = 0;
          for (const workers of ends) {
            const judgement = judge(suspicion, { workers, ...soon });
            suspicion = judgement.suspicion;
            open = judgement.end.kind === "suspected" ? open + 1 : 0;
            expect(open).toBeLessThanOrEqual(ROUNDS_MAX);
          }
        },
      ),
    );
  });

  it("charge everything once each of those in delivery has begun alone", () => {
    let judgement = judge(NO_SUSPICION, { workers: ["b", "a", "b"], ...soon });
    expect(judgement.end).toEqual({ kind: "suspected", order: ["a", "b"], slotMs: SLOT_MS });
    judgement = judge(judgement.suspicion, { workers: ["a", "b"], ...soon });
    expect(judgement.end).toEqual({ kind: "suspected", order: ["b", "a"], slotMs: SLOT_MS });
    judgement = judge(judgement.suspicion, { workers: ["a", "b"], ...soon });
    expect(judgement).toEqual({ end: { kind: "unplanned" }, suspicion: NO_SUSPICION });
  });

  it("charge everything where no Worker has a delivery, or nobody knows", () => {
    for (const workers of [[], null]) {
      const judgement = judge({ tried: ["a"] }, { workers, ...soon });
      expect(judgement).toEqual({ end: { kind: "unplanned" }, suspicion: NO_SUSPICION });
    }
  });

  it("begin anew after a runtime that has run for longer than any delivery, and not before", () => {
    const before = { tried: ["a"] };
    const firstAfter = (ranMs: number) => {
      const { end } = judge(before, { workers: ["a", "b"], ranMs });
      return end.kind === "suspected" ? end.order[0] : end.kind;
    };
    expect([firstAfter(CLEARED_AFTER_MS - 1), firstAfter(CLEARED_AFTER_MS)]).toEqual(["b", "a"]);
    expect(CLEARED_AFTER_MS).toBeGreaterThan(STEADY_MS + SUSPECTS_MAX * SLOT_MS + 15 * 60_000);
  });

  it("leave the Worker that is blamed alone at first, so that its next attempt cuts off nobody", () => {
    const { end } = judge(NO_SUSPICION, { workers: ["a"], ...soon });
    expect(companions(["a", "b", "c"], "a", end)).toEqual([]);
  });

  it("hold back a few Workers at most", () => {
    const { end } = judge(NO_SUSPICION, { workers: NAMES, ...soon });
    expect(end).toMatchObject({ order: NAMES.slice(0, SUSPECTS_MAX) });
    expect(beginsAfterMs(end, "h")).toBe(SLOT_MS);
  });
});

describe("what follows from an end", () => {
  it.each<[LastEnd, string]>([
    [{ kind: "planned" }, "None of the deliveries that this end cuts off counts as an attempt."],
    [{ kind: "unplanned" }, "The deliveries that this end cuts off count as attempts."],
    [
      { kind: "blamed", worker: "a", slotMs: 10_000 },
      'Of the deliveries that this end cuts off those of "a" count as attempts, no others. After the start other Workers are ' +
        "delivered to 10 s later than this one.",
    ],
    [
      { kind: "suspected", order: ["a", "b"], slotMs: 10_000 },
      "Several Workers had deliveries and cannot be told apart, so none of these counts as an attempt. After the start " +
        'Workers are delivered to one after the other: "a" at once, "b" after 10 s, any others after 10 s.',
    ],
  ])("is said: %j", (end, text) => expect(consequence(end)).toBe(text));
});
