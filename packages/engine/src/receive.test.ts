import { describe, expect, it } from "vitest";
import { Receivers } from "../test/receivers.ts";
import {
  changeVisibility,
  counts,
  deleteReceived,
  expireRetention,
  factsOf,
  nextWakeAt,
  purge,
  receive,
  VISIBILITY_TOTAL_MS_MAX,
} from "./index.ts";

const standard = (rules = {}) => new Receivers(rules);

describe("a receive on a standard queue (spec sqs 3)", () => {
  it("counts receives and remembers the first one", () => {
    const queue = standard();
    queue.send("m");
    const firstMs = queue.nowMs;
    queue.receive(1, 0);
    queue.nowMs += 5_000;
    queue.receive(1, 1_000);
    const facts = { receives: 2, firstReceivedMs: firstMs, visibleAtMs: queue.nowMs + 1_000 };
    expect(factsOf(queue.queue, queue.receiptOf("m"))).toMatchObject(facts);
  });

  it("gives an expired message in its old place, before what was sent meanwhile", () => {
    const queue = standard();
    queue.send("first");
    queue.receive(1, 1_000);
    queue.send("second");
    queue.nowMs += 1_000;
    expect(queue.receive(10)).toEqual(["first", "second"]);
  });

  it("with a timeout of 0 counts, and leaves the message visible", () => {
    const queue = standard();
    queue.send("m");
    expect(queue.receive(10, 0)).toEqual(["m"]);
    expect(counts(queue.queue)).toMatchObject({ ready: 1, leased: 0 });
  });

  it.each([0, 1_000])(
    "gives nothing of an empty queue, with a timeout of %i ms, and moves nothing",
    (forMs) => {
      const { queue, nowMs } = standard();
      expect(receive(queue, { max: 10, visibleAtMs: nowMs + forMs }, nowMs)).toEqual({
        lease: null,
        dead: [],
      });
    },
  );

  it.each([
    [0, 1],
    [1, 2],
    [9, 10],
  ])(
    "with max_retries %i gives a message %i time(s), and moves it at the next receive",
    (maxRetries, receives) => {
      const queue = standard({ maxRetries });
      queue.send("m", "other");
      for (let i = 0; i < receives; i++) expect(queue.receive(1, 0)).toEqual(["m"]);
      // It is not moved when its visibility timeout ends, but when somebody asks for messages.
      expect(queue.dead).toEqual([]);
      expect(counts(queue.queue).ready).toBe(2);
      expect(queue.receive(1)).toEqual(["other"]);
      expect(queue.dead).toEqual(["m"]);
    },
  );
});

describe("receipts of a standard queue (spec sqs 3.3, 3.4)", () => {
  it("delete after their visibility timeout, and after a newer receive", () => {
    const queue = standard();
    queue.send("m", "n");
    queue.receive(2, 1_000);
    queue.nowMs += 1_000;
    expect(queue.delete("m")).toEqual(["deleted"]);
    expect(queue.receive(2)).toEqual(["n"]);
    expect(deleteReceived(queue.queue, queue.receiptOf("n", 0), queue.nowMs)).toBe("deleted");
    expect(queue.delete("n")).toEqual(["gone"]);
  });

  it("extend and shorten from the moment of the call", () => {
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

  it("hide a message that is visible again, and free one that somebody else has received", () => {
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

  it("change nothing about a message that is deleted or purged", () => {
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
  ])("extend to 12 hours after their receive, %i ms: %s", (moreMs, outcome) => {
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

  it("of places that never were name nothing", () => {
    const queue = standard();
    queue.send("m");
    queue.receive(1);
    const receipt = queue.receiptOf("m");
    expect(deleteReceived(queue.queue, { ...receipt, segmentId: 1 }, queue.nowMs)).toBe("gone");
    expect(deleteReceived(queue.queue, { ...receipt, index: 1 }, queue.nowMs)).toBe("gone");
  });
});

describe("a message in flight whose retention ends (spec sqs 3.1)", () => {
  it.each([
    [-1, 0, "changed"],
    [0, 1, "gone"],
    [1, 1, "gone"],
  ])("%i ms from then: %i expire, a change of its visibility says %s", (ms, count, outcome) => {
    const queue = standard({ retentionMs: 60_000 });
    const sentMs = queue.nowMs;
    queue.send("m");
    queue.receive(1, 3_600_000);
    expect(nextWakeAt(queue.queue, false)).toBe(sentMs + 60_000);
    queue.nowMs = sentMs + 60_000 + ms;
    expect(expireRetention(queue.queue, queue.nowMs)).toBe(count);
    expect(queue.setVisibility("m", 5_000)).toBe(outcome);
  });
});

describe("messages in flight (spec sqs 3.5)", () => {
  it("are counted exactly, however they leave", () => {
    const queue = standard();
    queue.send("a", "b", "c", "d");
    receive(queue.queue, { max: 1, visibleAtMs: queue.nowMs }, queue.nowMs);
    expect(counts(queue.queue).leased).toBe(0);
    queue.receive(4, 1_000);
    queue.delete("a");
    queue.setVisibility("b", 0);
    queue.setVisibility("c", 2_000);
    expect(counts(queue.queue)).toMatchObject({ leased: 2, ready: 1 });
    queue.nowMs += 1_000;
    expect(queue.receive(10, 0)).toEqual(["b", "d"]);
    expect(counts(queue.queue)).toMatchObject({ leased: 1, ready: 2 });
  });
});
