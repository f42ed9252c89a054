import type { QueueRecord } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { definition } from "../../test/messages.ts";
import { isCleared, isOfDeleted, knownFrom, onConfigured, Registration } from "./registration.ts";

function record(revision: number, emptyAsOf = 0): QueueRecord {
  return {
    queueId: "1",
    name: "orders",
    createdOnMs: 0,
    modifiedOnMs: 0,
    revision,
    emptyAsOf,
    definition: definition({}),
    consumer: null,
    jurisdiction: null,
    dialects: {},
  };
}

const known = (revision: number) => new Registration({ kind: "known", record: record(revision) });
const absent = () => new Registration({ kind: "absent" });

describe("what a queue's object goes by", () => {
  it("is what the directory says, else its own copy, else what was deployed", () => {
    const said = { kind: "absent" } as const;
    expect(knownFrom(said, record(1), definition({}))).toBe(said);
    expect(knownFrom(null, record(1), definition({}))).toEqual({ kind: "known", record: record(1) });
    expect(knownFrom(null, null, definition({}))).toMatchObject({ kind: "provisional" });
    expect(knownFrom(null, null, undefined)).toBeNull();
  });

  it("is never an older record than it knows", () => {
    expect([4, 5, 6].map((revision) => onConfigured(known(5), record(revision)))).toEqual([
      "ignore",
      "ignore",
      "adopt",
    ]);
    expect(onConfigured(absent(), record(1))).toBe("adopt");
    const registration = known(5);
    for (const revision of [7, 6]) registration.set(record(revision));
    expect(registration.record?.revision).toBe(7);
  });

  it("is no queue that was deleted since", () => {
    const registration = absent();
    expect(registration.deleted(5)).toBe(false);
    expect([5, 6].map((revision) => onConfigured(registration, record(revision)))).toEqual([
      "ignore",
      "adopt",
    ]);
    registration.set(record(5));
    expect(registration.definition).toBeUndefined();
  });

  it("is nothing that was said before the directory said that there is no such queue", () => {
    const registration = new Registration({ kind: "absent", asOf: 5 });
    expect([5, 6].map((revision) => onConfigured(registration, record(revision)))).toEqual([
      "ignore",
      "adopt",
    ]);
  });

  it("begins without what a deleted queue of its name has left", () => {
    expect([5, 6].map((emptyAsOf) => onConfigured(known(5), record(9, emptyAsOf)))).toEqual([
      "adopt",
      "beginAgain",
    ]);
    expect([4, 5].map((revision) => known(5).deleted(revision))).toEqual([false, true]);
    expect(isCleared(null, 9)).toBe(false);
    expect(isOfDeleted(record(5), { kind: "absent" })).toBe(true);
    expect(isOfDeleted(record(5), { kind: "known", record: record(9, 5) })).toBe(false);
    expect(isOfDeleted(record(5), { kind: "known", record: record(9, 6) })).toBe(true);
  });
});
