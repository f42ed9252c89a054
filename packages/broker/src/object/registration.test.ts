import { expect, it } from "vitest";
import { definition, recordOf } from "../../test/messages.ts";
import { isCleared, isOfDeleted, knownFrom, onConfigured, Registration } from "./registration.ts";

const known = (revision: number) => new Registration({ kind: "known", record: recordOf(revision) });
const absent = () => new Registration({ kind: "absent" });

it("what a queue's object goes by is what the directory says, else its own copy, else what was deployed", () => {
  const said = { kind: "absent" } as const;
  expect(knownFrom(said, recordOf(1), definition({}))).toBe(said);
  expect(knownFrom(null, recordOf(1), definition({}))).toEqual({ kind: "known", record: recordOf(1) });
  expect(knownFrom(null, null, definition({}))).toMatchObject({ kind: "provisional" });
  expect(knownFrom(null, null, undefined)).toBeNull();
});

it("what a queue's object goes by is never an older record than it knows", () => {
  expect([4, 5, 6].map((revision) => onConfigured(known(5), recordOf(revision)))).toEqual([
    "ignore",
    "ignore",
    "adopt",
  ]);
  expect(onConfigured(absent(), recordOf(1))).toBe("adopt");
  const registration = known(5);
  for (const revision of [7, 6]) registration.set(recordOf(revision));
  expect(registration.record?.revision).toBe(7);
});

it("what a queue's object goes by is no queue that was deleted since", () => {
  const registration = absent();
  expect(registration.noteDeleted(5)).toBe(false);
  expect([5, 6].map((revision) => onConfigured(registration, recordOf(revision)))).toEqual([
    "ignore",
    "adopt",
  ]);
  registration.set(recordOf(5));
  expect(registration.definition).toBeUndefined();
});

it("what a queue's object goes by is nothing that was said before the directory said that there is no such queue", () => {
  const registration = new Registration({ kind: "absent", asOf: 5 });
  expect([5, 6].map((revision) => onConfigured(registration, recordOf(revision)))).toEqual([
    "ignore",
    "adopt",
  ]);
});

it("what a queue's object goes by begins without what a deleted queue of its name has left", () => {
  expect([5, 6].map((emptyAsOf) => onConfigured(known(5), recordOf(9, emptyAsOf)))).toEqual([
    "adopt",
    "beginAgain",
  ]);
  expect([4, 5].map((revision) => known(5).noteDeleted(revision))).toEqual([false, true]);
  expect(isCleared(null, 9)).toBe(false);
  expect(isOfDeleted(recordOf(5), { kind: "absent" })).toBe(true);
  expect(isOfDeleted(recordOf(5), { kind: "known", record: recordOf(9, 5) })).toBe(false);
  expect(isOfDeleted(recordOf(5), { kind: "known", record: recordOf(9, 6) })).toBe(true);
});

it("what a queue's object goes by as it was deployed is deleted by any deletion, since it may have taken messages", () => {
  const registration = new Registration({ kind: "provisional", definition: definition({}) });
  expect(registration.noteDeleted(5)).toBe(true);
});
