import fc from "fast-check";
import { expect, it } from "vitest";
import { DeliveryRecord } from "./consumer-health.ts";

/** Ends of deliveries: `w`ent well, `f`ailed, all messages `r`etried as the handler asked, `p`art of them retried. */
function failuresAfter(ends: string): number {
  const record = new DeliveryRecord();
  for (const end of ends) {
    if (end === "w") record.ended(1, null, { hasFailed: false, acked: 2, messages: 2 });
    if (end === "f") record.ended(1, "Error: no", { hasFailed: true, acked: 0, messages: 2 });
    if (end === "r") record.ended(1, "its handler asked for it", { hasFailed: false, acked: 0, messages: 2 });
    if (end === "p") record.ended(1, "its handler asked for it", { hasFailed: false, acked: 1, messages: 2 });
  }
  return record.read().consecutiveFailures;
}

it.each([
  ["", 0],
  ["w", 0],
  ["f", 1],
  ["ff", 2],
  ["ffw", 0],
  ["r", 0],
  ["rw", 0],
  ["wr", 0],
  ["rr", 2],
  ["wrrr", 3],
  ["rrw", 0],
  ["fr", 2],
  ["rf", 2],
  ["rp", 0],
  ["pppp", 0],
  ["wrwrwr", 0],
])("deliveries that end %j have failed in a row: %i", (ends, failures) => {
  expect(failuresAfter(ends)).toBe(failures);
});

it("a delivery that the handler asks for again counts as a failure does, unless it is a single one", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("w", "f", "r", "p") }), (ends) => {
      const streak = /[fr]*$/.exec(ends)?.[0] ?? "";
      expect(failuresAfter(ends)).toBe(streak === "r" ? 0 : streak.length);
    }),
  );
});

it("a message that no consumer was there for counts as a failure", () => {
  const record = new DeliveryRecord();
  record.ended(5, "the consumer was not there");
  expect(record.read()).toEqual({
    consecutiveFailures: 1,
    lastDelivery: { endedMs: 5, failure: "the consumer was not there" },
  });
});
