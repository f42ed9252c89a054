import { describe, expect, it } from "vitest";
import { checkInvariants } from "../../test/invariants.ts";
import { pull, queueWith, sendMany, T0 } from "../../test/queues.ts";
import { Receivers } from "../../test/receivers.ts";
import {
  changeVisibility,
  counts,
  deleteReceived,
  encodeIndex,
  expireLeases,
  factsOf,
  purge,
  type Queue,
  restoreSegment,
  retry,
  type Slice,
  VISIBILITY_TOTAL_MS_MAX,
} from "../index.ts";

const standard = () => new Receivers({});

/** A queue after corruption: its segments are there, and all that happened to their messages is forgotten. */
function withoutStates({ queue, nowMs }: Receivers): Queue {
  const again = queueWith({ ...queue.rules, maxRetries: 0 }, 2);
  for (const segment of queue.segments.values()) {
    restoreSegment(again, segment.id, encodeIndex(segment), null, nowMs);
  }
  return again;
}

describe("receipts of a standard queue (spec sqs 3.3, 3.4)", () => {
  it("receipts of a standard queue delete after their visibility timeout, and after a newer receive", () => {
    const queue = standard();
    queue.send("m", "n");
    queue.receive(2, 1_000);
    queue.nowMs += 1_000;
    expect(queue.delete("m")).toEqual(["deleted"]);
    expect(queue.receive(2)).toEqual(["n"]);
    expect(deleteReceived(queue.queue, queue.receiptOf("n", 0), queue.nowMs)).toBe("deleted");
    expect(queue.delete("n")).toEqual(["gone"]);
  });

  it("receipts of a standard queue name the message that they delete, once", () => {
    const queue = standard();
    queue.send("m");
    queue.receive(1, 1_000);
    const receipt = queue.receiptOf("m", 0);
    const named: Slice[] = [];
    const note = (slice: Slice) => named.push(slice);
    expect(deleteReceived(queue.queue, receipt, queue.nowMs, note)).toBe("deleted");
    expect(deleteReceived(queue.queue, receipt, queue.nowMs, note)).toBe("gone");
    const { segmentId, index } = receipt;
    expect(named).toEqual([{ segmentId, from: index, to: index + 1, attempts: 1 }]);
  });

  it("receipts of a standard queue extend and shorten from the moment of the call", () => {
    const queue = standard();
    queue.send("m");
    queue.receive(1, 60_000);
    queue.nowMs += 15_000;
    expect(queue.setVisibility("m", 10_000)).toBe("changed");
    queue.nowMs += 9_999;
    expect(queue.receive(1)).toEqual([]);
    queue.nowMs += 1;
    expect(queue.receive(1)).toEqual(["m"]);
  });

  it("receipts of a standard queue hide a message that is visible again, and free one that another client has received", () => {
    const queue = standard();
    queue.send("m");
    queue.receive(1, 1_000);
    queue.nowMs += 1_000;
    queue.setVisibility("m", 1_000);
    expect(queue.receive(1)).toEqual([]);
    queue.nowMs += 1_000;
    expect(queue.receive(1, 60_000)).toEqual(["m"]);
    const change = { visibleAtMs: queue.nowMs, receivedMs: queue.nowMs };
    expect(changeVisibility(queue.queue, queue.receiptOf("m", 0), change, queue.nowMs)).toBe("changed");
    expect(queue.receive(1)).toEqual(["m"]);
  });

  it("receipts of a standard queue change nothing about a message that is deleted or purged", () => {
    const queue = standard();
    queue.send("m", "n");
    queue.receive(2);
    queue.delete("m");
    expect(queue.setVisibility("m", 1)).toBe("gone");
    purge(queue.queue);
    expect([...queue.delete("n"), queue.setVisibility("n", 0)]).toEqual(["gone", "gone"]);
  });

  it.each([
    [-1, "changed"],
    [0, "changed"],
    [1, "overTotal"],
  ])("receipts of a standard queue extend to 12 hours after their receive, %i ms: %s", (moreMs, outcome) => {
    const queue = standard();
    queue.send("m");
    const receivedMs = queue.nowMs;
    queue.receive(1, 60_000);
    queue.nowMs += 20_000;
    const change = { visibleAtMs: receivedMs + VISIBILITY_TOTAL_MS_MAX + moreMs, receivedMs };
    expect(changeVisibility(queue.queue, queue.receiptOf("m"), change, queue.nowMs)).toBe(outcome);
    expect(factsOf(queue.queue, queue.receiptOf("m"))?.visibleAtMs).toBe(
      outcome === "changed" ? change.visibleAtMs : receivedMs + 60_000,
    );
  });

  it("receipts of a standard queue make a message visible at once though it was received more than 12 hours ago", () => {
    const queue = standard();
    queue.send("m");
    queue.receive(1, VISIBILITY_TOTAL_MS_MAX);
    const change = { receivedMs: queue.nowMs, visibleAtMs: queue.nowMs + VISIBILITY_TOTAL_MS_MAX + 1 };
    queue.nowMs = change.visibleAtMs;
    expect(changeVisibility(queue.queue, queue.receiptOf("m"), change, queue.nowMs)).toBe("changed");
    expect(queue.receive(1)).toEqual(["m"]);
  });

  it("receipts of a standard queue leave the count of receives as it is when they extend", () => {
    const queue = standard();
    queue.send("m");
    queue.receive(1, 0);
    queue.receive(1, 1_000);
    queue.setVisibility("m", 60_000);
    const facts = { receives: 2, visibleAtMs: queue.nowMs + 60_000 };
    expect(factsOf(queue.queue, queue.receiptOf("m"))).toMatchObject(facts);
  });

  it("receipts of a standard queue hide a message that corruption has brought back as never received, and count one receive of it", () => {
    const queue = standard();
    queue.send("m", "n");
    queue.receive(1);
    const after = withoutStates(queue);
    const receipt = queue.receiptOf("m");
    expect(factsOf(after, receipt)).toBeNull();
    const change = { visibleAtMs: queue.nowMs + 1_000, receivedMs: queue.nowMs };
    expect(changeVisibility(after, receipt, change, queue.nowMs)).toBe("changed");
    expect(factsOf(after, receipt)).toMatchObject({ receives: 1, visibleAtMs: change.visibleAtMs });
    expect(counts(after)).toMatchObject({ ready: 1, leased: 1 });
    // A receiver's time is up: no delivery has failed, so nothing dies of it.
    expect(expireLeases(after, change.visibleAtMs)).toEqual({ retried: [], dead: [] });
    expect(counts(after)).toMatchObject({ ready: 2, leased: 0 });
    checkInvariants(after);
  });

  it("receipts of a standard queue of places that never were name nothing", () => {
    const queue = standard();
    queue.send("m");
    queue.receive(1);
    const receipt = queue.receiptOf("m");
    for (const place of [
      { ...receipt, segmentId: 1 },
      { ...receipt, index: 1 },
    ]) {
      expect(deleteReceived(queue.queue, place, queue.nowMs)).toBe("gone");
      expect(changeVisibility(queue.queue, place, { visibleAtMs: T0, receivedMs: T0 }, T0)).toBe("gone");
      expect(factsOf(queue.queue, place)).toBeNull();
    }
  });
});

describe("receipts of a FIFO queue (spec sqs 3.4)", () => {
  const fifo = () => new Receivers({ fifo: true });

  it("receipts of a FIFO queue count until their visibility timeout ends", () => {
    const queue = fifo();
    queue.send("a-1");
    queue.receive(1, 1_000);
    queue.nowMs += 999;
    expect(queue.setVisibility("a-1", 1_000)).toBe("changed");
    queue.nowMs += 999;
    expect(queue.delete("a-1", "a-1")).toEqual(["deleted", "gone"]);
    expect(queue.setVisibility("a-1", 1_000)).toBe("gone");
  });

  it("receipts of a FIFO queue have expired from that moment on", () => {
    const queue = fifo();
    queue.send("a-1");
    queue.receive(1, 1_000);
    queue.nowMs += 1_000;
    expect([...queue.delete("a-1"), queue.setVisibility("a-1", 1)]).toEqual(["expired", "expired"]);
    expect(queue.receive(1)).toEqual(["a-1"]);
    expect(queue.delete("a-1")).toEqual(["deleted"]);
  });

  it("receipts of a FIFO queue have expired once the message was received again", () => {
    const queue = fifo();
    queue.send("a-1");
    queue.receive(1, 0);
    queue.receive(1);
    const first = queue.receiptOf("a-1", 0);
    expect(deleteReceived(queue.queue, first, queue.nowMs)).toBe("expired");
    expect(factsOf(queue.queue, first)).toBeNull();
    expect(queue.delete("a-1")).toEqual(["deleted"]);
  });

  it("receipts of a FIFO queue are of a message that is gone once it is deleted, though others of its segment are left", () => {
    const queue = fifo();
    queue.send("a-1", "a-2");
    queue.receive(1);
    expect(queue.delete("a-1", "a-1")).toEqual(["deleted", "gone"]);
    expect(queue.setVisibility("a-1", 1_000)).toBe("gone");
    expect(factsOf(queue.queue, queue.receiptOf("a-1"))).toBeNull();
  });

  it("receipts of a FIFO queue have expired when corruption has brought their message back as never received", () => {
    const queue = fifo();
    queue.send("a-1");
    queue.receive(1);
    const after = withoutStates(queue);
    expect(deleteReceived(after, queue.receiptOf("a-1"), queue.nowMs)).toBe("expired");
    expect(counts(after).ready).toBe(1);
  });

  it("receipts of a FIFO queue of a pull have expired once the delivery has failed, also while the message waits for the next one", () => {
    const queue = queueWith({ fifo: true });
    const segmentId = sendMany(queue, 1);
    const { leaseId } = pull(queue, 1);
    retry(queue, { leaseId, segmentId, from: 0, to: 1 }, T0 + 60_000, T0);
    expect(deleteReceived(queue, { leaseId, segmentId, index: 0 }, T0)).toBe("expired");
  });
});
