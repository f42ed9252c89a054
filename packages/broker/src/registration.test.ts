import type { QueueRecord } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { definition } from "../test/messages.ts";
import { isCleared, isOfDeleted, knownFrom, onConfigured } from "./registration.ts";

function record(revision: number, emptyAsOf = 0): QueueRecord {
  return {
    ...{ queueId: "1", name: "orders", createdOnMs: 0, modifiedOnMs: 0, revision, emptyAsOf },
    ...{ definition: definition({}), consumer: null, jurisdiction: null, dialects: {} },
  };
}

describe("what a queue's object goes by", () => {
  it("is what the directory says, else its own copy, else what was deployed", () => {
    const said = { kind: "absent" } as const;
    expect(knownFrom(said, record(1), definition({}))).toBe(said);
    expect(knownFrom(null, record(1), definition({}))).toEqual({ kind: "known", record: record(1) });
    expect(knownFrom(null, null, definition({}))).toMatchObject({ kind: "provisional" });
    expect(knownFrom(null, null, undefined)).toBeNull();
  });

  it("is never an older record than it knows", () => {
    expect([4, 5, 6].map((revision) => onConfigured(record(5), record(revision)))).toEqual([
      "ignore",
      "ignore",
      "adopt",
    ]);
    expect(onConfigured(null, record(1))).toBe("adopt");
  });

  it("begins without what a deleted queue of its name has left", () => {
    expect([5, 6].map((emptyAsOf) => onConfigured(record(5), record(9, emptyAsOf)))).toEqual([
      "adopt",
      "beginAgain",
    ]);
    expect([4, 5].map((revision) => isCleared(record(5), revision))).toEqual([false, true]);
    expect(isCleared(null, 9)).toBe(false);
    expect(isOfDeleted(record(5), { kind: "absent" })).toBe(true);
    expect(isOfDeleted(record(5), { kind: "known", record: record(9, 5) })).toBe(false);
    expect(isOfDeleted(record(5), { kind: "known", record: record(9, 6) })).toBe(true);
  });
});
