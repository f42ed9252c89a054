import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { inBatches } from "./batches.ts";
import { roundsOf } from "./eject.ts";

const message = (id: number, group: string) => ({
  id: `${id}`,
  group,
  receipt: "r",
  sentAt: "2026-11-27T00:00:00.000Z",
  attempts: 0,
  delaySeconds: 0,
  contentType: "text",
  text: "x",
});

describe("rounds of a FIFO queue", () => {
  it("have one message of each group at most, and keep the order of each", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("a", "b", "c")), (groups) => {
        const messages = groups.map((group, i) => message(i, group));
        const rounds = roundsOf(messages);
        for (const round of rounds) {
          expect(new Set(round.map(({ group }) => group)).size).toBe(round.length);
        }
        const ofGroup = (all: typeof messages, name: string) => all.filter(({ group }) => group === name);
        for (const name of ["a", "b", "c"]) {
          expect(ofGroup(rounds.flat() as typeof messages, name)).toEqual(ofGroup(messages, name));
        }
        expect(rounds.flat()).toHaveLength(messages.length);
      }),
    );
  });
});

describe("batches", () => {
  it("keep all items in order within their limits; one that is too large is alone", () => {
    const limits = { messages: 5, size: 100 };
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 150 })), (sizes) => {
        const batches = [...inBatches(sizes, (size) => size, limits)];
        expect(batches.flat()).toEqual(sizes);
        for (const batch of batches) {
          const sum = batch.reduce((all, size) => all + size, 0);
          expect(batch.length).toBeGreaterThan(0);
          expect(batch.length).toBeLessThanOrEqual(5);
          expect(sum <= 100 || batch.length === 1).toBe(true);
        }
      }),
    );
  });

  it.each([
    [[50, 49], 1],
    [[50, 50], 1],
    [[50, 51], 2],
    [[0, 0, 0, 0], 1],
    [[0, 0, 0, 0, 0], 1],
    [[0, 0, 0, 0, 0, 0], 2],
  ])("of %j are %i", (sizes, count) => {
    expect([...inBatches(sizes, (size) => size, { messages: 5, size: 100 })]).toHaveLength(count);
  });
});
