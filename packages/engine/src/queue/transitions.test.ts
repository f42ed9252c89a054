import { describe, expect, it } from "vitest";
import { checkInvariants } from "../../test/invariants.ts";
import { pull, queueWith, rangesOf, sendApart, sendMany, T0 } from "../../test/queues.ts";
import { Receivers } from "../../test/receivers.ts";
import { removeMessage } from "../commands/purge.ts";
import { acknowledge, advance, counts, lease, retry, send, takeChanges } from "../index.ts";
import { lift } from "./transitions.ts";

describe("a touched message", () => {
  it("is in one state: what is in no heap cannot be taken out of one", () => {
    for (const groups of [undefined, ["a"]]) {
      const queue = queueWith();
      send(queue, { sizes: [1], dueMs: T0, ...(groups === undefined ? {} : { groups }) }, T0);
      pull(queue, 1);
      const entry = queue.leased.peek();
      if (entry === undefined) throw new Error("nothing was leased");
      lift(queue, entry);
      expect(() => lift(queue, entry)).toThrow("the entry is in no heap");
    }
  });

  it("changes its segment's state, not its payload, when it is cut off a stretch that waits", () => {
    const queue = queueWith();
    const segmentId = sendMany(queue, 3);
    for (const range of rangesOf(pull(queue, 3))) retry(queue, range, T0 + 1_000, T0);
    takeChanges(queue);
    removeMessage(queue, { segmentId, index: 1 });
    expect(takeChanges(queue)).toEqual([[segmentId, "touched"]]);
    expect(counts(queue)).toMatchObject({ delayed: 2, waitingBytes: 20 });
  });

  it("a touched message of a segment without groups is leased and deleted where other segments have some", () => {
    const queue = new Receivers({});
    queue.send("a-1", "alone", "b-1");
    queue.receive(10);
    queue.setVisibility("alone", 0);
    expect(queue.receive(10)).toEqual(["alone"]);
    expect(queue.delete("alone", "a-1", "b-1")).toEqual(["deleted", "deleted", "deleted"]);
    checkInvariants(queue.queue);
  });
});

it("the last message of a segment takes no other segment's place for new messages with it", () => {
  const queue = queueWith();
  sendApart(queue, 1);
  const batch = pull(queue, 1);
  const open = sendMany(queue, 1);
  for (const range of rangesOf(batch)) acknowledge(queue, range);
  expect(sendMany(queue, 1)).toBe(open);
});

it("untouched messages of several due times come after those of another segment that are due between them", () => {
  const queue = queueWith();
  send(queue, { sizes: [1, 1], dueMs: [T0 + 1, T0 + 10] }, T0);
  const between = sendApart(queue, 1, T0, T0 + 5);
  advance(queue, T0 + 1);
  checkInvariants(queue);
  advance(queue, T0 + 5);
  expect(counts(queue)).toMatchObject({ ready: 2, delayed: 1 });
  const batch = lease(queue, { max: 9, expiresMs: T0 + 99, kind: "pull" }, T0 + 5);
  expect(batch?.slices.at(-1)).toMatchObject({ segmentId: between });
});
