import { beforeEach, describe, expect, it } from "vitest";
import { DEAD_LETTER_QUEUE } from "../cluster/topology.ts";
import { type Delivered, DeliveryLedger } from "./delivery-ledger.ts";
import type { Message } from "./message.ts";

let nowMs: number;
let ledger: DeliveryLedger;

beforeEach(() => {
  nowMs = 1_000;
  ledger = new DeliveryLedger(() => nowMs);
});

const ACK = { kind: "ack" } as const;

/** A message whose send was acknowledged. */
function stored(queue = "orders", delayMs = 0): { message: Message; body: string } {
  const intended = ledger.intend({ queue, bytes: 50, delayMs });
  ledger.acknowledged(intended.message);
  return intended;
}

/** The latest delivery of each message, by what it was delivered as. */
const latest = new Map<Message, Delivered>();

function deliver(body: string, attempts: number, queue = "orders"): Delivered | null {
  const [delivered = null] = ledger.delivered({ queue, messages: [{ id: "", attempts, body }] });
  if (delivered !== null) latest.set(delivered.message, delivered);
  return delivered;
}

function settle(message: Message, settlement: Parameters<DeliveryLedger["settled"]>[1]): void {
  const delivered = latest.get(message);
  if (delivered === undefined) throw new Error("the message was not delivered");
  ledger.settled(delivered, settlement);
}

const violations = () => ledger.violationTexts;

describe("an acknowledged message", () => {
  it("is owed until a handler has acknowledged it", () => {
    const { message, body } = stored();
    expect([ledger.owed, ledger.summary().lost]).toEqual([1, 1]);
    deliver(body, 1);
    expect(ledger.owed).toBe(1);
    settle(message, ACK);
    expect([ledger.owed, ledger.summary().lost]).toEqual([0, 0]);
    expect(violations()).toEqual([]);
  });

  it("is owed again when it comes again", () => {
    const { message, body } = stored();
    deliver(body, 1);
    settle(message, ACK);
    ledger.epochEnded();
    deliver(body, 2);
    expect(ledger.owed).toBe(1);
  });

  it("is owed no more when the dead-letter queue's handler has acknowledged it", () => {
    const { message, body } = stored();
    for (let attempts = 1; attempts <= 5; attempts++) {
      deliver(body, attempts);
      settle(message, { kind: "retry", delayMs: 0 });
    }
    deliver(body, 1, DEAD_LETTER_QUEUE);
    settle(message, ACK);
    expect(ledger.summary()).toMatchObject({ lost: 0, deadLettered: 1, violations: 0 });
  });
});

describe("a send that was not answered", () => {
  it("is owed nothing, and counts as stored when it comes all the same", () => {
    const { body } = ledger.intend({ queue: "orders", bytes: 50, delayMs: 0 });
    ledger.intend({ queue: "orders", bytes: 50, delayMs: 0 });
    deliver(body, 1);
    expect(ledger.summary()).toMatchObject({ unanswered: 2, unansweredButStored: 1, lost: 0, violations: 0 });
  });
});

describe("a duplicate is explained", () => {
  it("by a handler that had it at the kill", () => {
    const { body } = stored();
    deliver(body, 1);
    ledger.epochEnded();
    deliver(body, 2);
    expect(ledger.duplicates["the handler had it when the process died"]).toBe(1);
    expect(violations()).toEqual([]);
  });

  it("by an acknowledgement that was lost at the kill, with how old it was", () => {
    const { message, body } = stored();
    deliver(body, 1);
    settle(message, ACK);
    nowMs += 7;
    ledger.epochEnded();
    deliver(body, 2);
    expect(ledger.duplicates["its acknowledgement was not committed when the process died"]).toBe(1);
    expect(ledger.summary().oldestLostAckMs).toBe(7);
    expect(violations()).toEqual([]);
  });

  it("by a retry that was lost at the kill", () => {
    const { message, body } = stored();
    deliver(body, 1);
    settle(message, { kind: "retry", delayMs: 5_000 });
    ledger.epochEnded();
    deliver(body, 2);
    expect(ledger.duplicates["its retry was asked for and not committed"]).toBe(1);
    expect(violations()).toEqual([]);
  });
});

describe("while objects may be reset", () => {
  it("a message may come again, on the same attempt, but not on an earlier one", () => {
    ledger.objectsMayReset = true;
    const { message, body } = stored();
    deliver(body, 2);
    deliver(body, 2);
    settle(message, ACK);
    deliver(body, 3);
    expect(violations()).toEqual([]);
    deliver(body, 1);
    expect(violations()).toEqual(['message 0 of queue "orders" went from attempt 3 to 1']);
  });

  it("a handler that answers an object which is gone settles nothing", () => {
    ledger.objectsMayReset = true;
    const { message, body } = stored();
    const first = deliver(body, 1);
    const second = deliver(body, 1);
    if (first === null || second === null) throw new Error("not delivered");
    ledger.settled(second, ACK);
    ledger.settled(first, { kind: "retry", delayMs: 2_000 });
    expect([ledger.owed, ledger.summary().lost]).toEqual([0, 0]);
    ledger.settled(first, ACK);
    deliver(body, 2);
    settle(message, ACK);
    expect(ledger.owed).toBe(0);
  });
});

describe("a reset", () => {
  it("can fail a send whose commit was made", () => {
    ledger.objectsMayReset = true;
    const { message, body } = ledger.intend({ queue: "orders", bytes: 50, delayMs: 0 });
    ledger.refused(message);
    deliver(body, 1);
    expect(violations()).toEqual([]);
  });
});

describe("a violation is", () => {
  it("a body that was never sent, or a damaged one", () => {
    const { body } = stored();
    deliver("7:abc", 1);
    deliver("abc", 1);
    deliver(`${body.slice(0, -1)}!`, 1);
    expect(violations()).toHaveLength(3);
  });

  it("a message of another queue", () => {
    deliver(stored("bulk").body, 1, "orders");
    expect(violations()).toHaveLength(1);
  });

  it("a message that was refused", () => {
    const { message, body } = ledger.intend({ queue: "orders", bytes: 50, delayMs: 0 });
    ledger.refused(message);
    deliver(body, 1);
    expect(violations()).toHaveLength(1);
  });

  it("a delay that was cut short, by 1 ms", () => {
    const [early, late] = [stored("orders", 500), stored("orders", 500)];
    nowMs += 499;
    deliver(early.body, 1);
    nowMs += 1;
    deliver(late.body, 1);
    expect(violations()).toEqual(['message 0 of queue "orders" came 1 ms before its delay was over']);
  });

  it("a retry delay that was cut short, by 1 ms", () => {
    const { message, body } = stored();
    deliver(body, 1);
    settle(message, { kind: "retry", delayMs: 1_000 });
    nowMs += 999;
    deliver(body, 2);
    expect(violations()).toEqual(['message 0 of queue "orders" came 1 ms before its retry delay was over']);
  });

  it("a second delivery while a handler has the message", () => {
    const { body } = stored();
    deliver(body, 1);
    deliver(body, 2);
    expect(violations()).toHaveLength(1);
  });

  it("a delivery after an acknowledgement in the same epoch", () => {
    const { message, body } = stored();
    deliver(body, 1);
    settle(message, ACK);
    deliver(body, 2);
    expect(violations()).toHaveLength(1);
  });

  it("a delivery in a later epoch after an acknowledgement that is proved to be committed", () => {
    const { message, body } = stored("serial");
    deliver(body, 1, "serial");
    settle(message, ACK);
    deliver(stored("serial").body, 1, "serial");
    ledger.epochEnded();
    deliver(body, 2, "serial");
    expect(violations()).toEqual(['message 0 of queue "serial" was delivered after its acknowledgement']);
    // It is no duplicate that at-least-once allows.
    expect(Object.values(ledger.summary().duplicates)).toEqual([0, 0, 0]);
  });

  it("a number of attempts that does not grow", () => {
    const { body } = stored();
    deliver(body, 2);
    ledger.epochEnded();
    deliver(body, 2);
    expect(violations()).toEqual(['message 0 of queue "orders" went from attempt 2 to 2']);
  });

  it("an attempt past the last", () => {
    deliver(stored().body, 5);
    expect(violations()).toEqual([]);
    deliver(stored().body, 6);
    expect(violations()).toHaveLength(1);
  });

  it("a death before the last attempt that no kill explains", () => {
    const { message, body } = stored();
    deliver(body, 3);
    settle(message, { kind: "retry", delayMs: 0 });
    ledger.epochEnded();
    deliver(body, 1, DEAD_LETTER_QUEUE);
    expect(violations()).toEqual(['message 0 of queue "dead" died on attempt 3, 1 kill(s) later']);
  });

  it("a delivery by the own queue after the move to the dead-letter queue", () => {
    const { message, body } = stored();
    deliver(body, 5);
    settle(message, { kind: "retry", delayMs: 0 });
    deliver(body, 1, DEAD_LETTER_QUEUE);
    deliver(body, 6);
    expect(violations()).toContain(
      'message 0 of queue "orders" was delivered after it had moved to the dead-letter queue',
    );
  });
});
