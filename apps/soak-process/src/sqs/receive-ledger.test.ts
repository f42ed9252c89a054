import { bodyOf } from "@sluice/harness/body";
import { beforeEach, describe, expect, it } from "vitest";
import { DEAD_QUEUE, VISIBILITY_MS } from "./queues.ts";
import { ReceiveLedger } from "./receive-ledger.ts";
import type { SqsMessage } from "./sqs-message.ts";

let nowMs: number;
let ledger: ReceiveLedger;

beforeEach(() => {
  nowMs = 1_000_000;
  ledger = new ReceiveLedger(() => nowMs);
});

function sent(queue: string, more: { group?: string; delayMs?: number } = {}): SqsMessage {
  const { group = null, delayMs = 0 } = more;
  const { message } = ledger.intend({ queue, group, bytes: 20, delayMs });
  ledger.acknowledged(message);
  return message;
}

/** Receives messages, for the `count`th time each. */
function take(queue: string, messages: readonly SqsMessage[], count = 1, askedAtMs = nowMs) {
  const given = messages.map(({ tag, bytes }) => ({
    MessageId: `id ${tag}`,
    ReceiptHandle: `${tag} ${count}`,
    Body: bodyOf(tag, bytes),
    Attributes: { ApproximateReceiveCount: `${count}` },
  }));
  return ledger.receivedFrom(queue, given, askedAtMs);
}

function takeOne(queue: string, message: SqsMessage) {
  const [taken] = take(queue, [message]);
  if (taken === undefined) throw new Error("nothing was taken");
  return taken;
}

describe("the ledger of receives", () => {
  it("finds nothing wrong with a message that is received and deleted once", () => {
    const taken = takeOne("plain", sent("plain"));
    ledger.deleting(taken);
    ledger.deleted(taken);
    expect(ledger.summary()).toMatchObject({ sent: 1, acknowledged: 1, lost: 0, deleted: 1, violations: 0 });
  });

  it("counts an acknowledged message that never came as lost, and one without an answer not", () => {
    sent("plain");
    ledger.intend({ queue: "plain", group: null, bytes: 5, delayMs: 0 });
    expect(ledger.summary()).toMatchObject({ sent: 2, lost: 1, unanswered: 1 });
    expect(ledger.owed).toBe(1);
  });

  it.each([
    [VISIBILITY_MS - 1, [expect.stringMatching(/came 1 ms before its visibility timeout was over/)]],
    [VISIBILITY_MS, []],
    [VISIBILITY_MS + 1, []],
  ])("knows when a message may come again: %i ms after it was received", (afterMs, violations) => {
    const message = sent("plain");
    take("plain", [message]);
    nowMs += afterMs;
    take("plain", [message], 2);
    expect(ledger.violationTexts).toEqual(violations);
  });

  it.each([
    [999, [expect.stringMatching(/came 1 ms before its delay was over/)]],
    [1_000, []],
  ])("knows when a delay of 1 s is over: after %i ms", (afterMs, violations) => {
    const message = sent("plain", { delayMs: 1_000 });
    nowMs += afterMs;
    take("plain", [message]);
    expect(ledger.violationTexts).toEqual(violations);
  });

  it("takes a deletion for final where the message was hidden, and for unknown where it was not", () => {
    for (const [afterMs, violations] of [
      [VISIBILITY_MS - 1, 1],
      [VISIBILITY_MS, 1],
    ] as const) {
      const message = sent("plain");
      const taken = takeOne("plain", message);
      nowMs += afterMs;
      ledger.deleting(taken);
      ledger.deleted(taken);
      nowMs += VISIBILITY_MS;
      take("plain", [message], 2);
      expect(ledger.violations).toBe(violations);
    }
    expect(ledger.violationTexts).toEqual([expect.stringMatching(/came again after its deletion/)]);
  });

  it("lets a message come at once that was changed to be visible, and not one that was changed to be hidden", () => {
    const messages = [sent("plain"), sent("plain")];
    const [shown, hidden] = take("plain", messages);
    if (shown === undefined || hidden === undefined) throw new Error("nothing was taken");
    ledger.changing(shown);
    ledger.changed(shown, nowMs, 0);
    ledger.changing(hidden);
    ledger.changed(hidden, nowMs, 2 * VISIBILITY_MS);
    nowMs += VISIBILITY_MS;
    take("plain", messages, 2);
    expect(ledger.violationTexts).toEqual([expect.stringMatching(/^message 1 .* visibility timeout/)]);
  });

  it("expects nothing of a message whose earlier receipt changes how long it is hidden", () => {
    const message = sent("plain");
    const earlier = takeOne("plain", message);
    nowMs += VISIBILITY_MS;
    const askedAtMs = nowMs;
    ledger.changing(earlier);
    nowMs += 10;
    ledger.changed(earlier, askedAtMs, 0);
    take("plain", [message], 2, askedAtMs);
    take("plain", [message], 3);
    expect(ledger.violationTexts).toEqual([]);
  });

  it("binds by a change only receives that were asked for after it was answered", () => {
    for (const [isAskedBefore, violations] of [
      [true, 0],
      [false, 1],
    ] as const) {
      const message = sent("plain");
      const taken = takeOne("plain", message);
      nowMs += VISIBILITY_MS;
      const askedAtMs = nowMs;
      ledger.changing(taken);
      nowMs += 10;
      ledger.changed(taken, askedAtMs, 1_000);
      take("plain", [message], 2, isAskedBefore ? askedAtMs : nowMs);
      expect(ledger.violations).toBe(violations);
    }
  });

  it("passes over an answer that a later receive has overtaken", () => {
    const message = sent("plain");
    const askedAtMs = nowMs;
    nowMs += VISIBILITY_MS;
    take("plain", [message], 2);
    expect(take("plain", [message], 1, askedAtMs)).toEqual([]);
    expect([ledger.late, ledger.violations]).toEqual([1, 0]);
  });

  it("wants the messages of a group in order: behind one that is not deleted comes only what came along with it", () => {
    const [one, two, other] = [
      sent("ordered.fifo", { group: "a" }),
      sent("ordered.fifo", { group: "a" }),
    ].concat(sent("ordered.fifo", { group: "b" }));
    if (one === undefined || two === undefined || other === undefined) throw new Error("nothing was sent");
    take("ordered.fifo", [other]);
    take("ordered.fifo", [one, two]);
    expect(ledger.violationTexts).toEqual([]);
    nowMs += VISIBILITY_MS;
    take("ordered.fifo", [two], 2);
    expect(ledger.violationTexts).toEqual([expect.stringMatching(/came before message 0 of its group/)]);
  });

  it("sees a deduplication id that stored two messages", () => {
    const message = sent("ordered.fifo", { group: "a" });
    take("ordered.fifo", [message]);
    nowMs += VISIBILITY_MS;
    const Body = bodyOf(message.tag, message.bytes);
    const Attributes = { ApproximateReceiveCount: "1" };
    ledger.receivedFrom(
      "ordered.fifo",
      [{ MessageId: "another", ReceiptHandle: "x", Body, Attributes }],
      nowMs,
    );
    expect(ledger.violationTexts).toContainEqual(expect.stringMatching(/came as two messages/));
  });

  it("sees a body that was never sent, a foreign queue, and a receive too many", () => {
    const message = sent("few-receives");
    take("plain", [message]);
    take("few-receives", [message], 4);
    const stranger = { MessageId: "x", ReceiptHandle: "x", Body: "7:nobody" };
    ledger.receivedFrom("plain", [stranger], nowMs);
    expect(ledger.violationTexts).toEqual([
      expect.stringMatching(/message 0 of queue "few-receives" came out of "plain"/),
      expect.stringMatching(/received for the 4th time/),
      expect.stringMatching(/a body that was never sent/),
    ]);
  });

  it("follows a message to the dead-letter queue, and not back", () => {
    const message = sent("few-receives");
    take("few-receives", [message], 3);
    nowMs += VISIBILITY_MS;
    expect(take(DEAD_QUEUE, [message], 1)).toHaveLength(1);
    expect(take("few-receives", [message], 3)).toEqual([]);
    expect([ledger.late, ledger.violations]).toEqual([1, 0]);
  });
});
