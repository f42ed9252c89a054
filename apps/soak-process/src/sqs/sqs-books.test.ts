import { beforeEach, describe, expect, it } from "vitest";
import { bodyOf } from "../load/body.ts";
import { DEAD_QUEUE, VISIBILITY_MS } from "./queues.ts";
import { SqsBooks } from "./sqs-books.ts";
import type { SqsMessage } from "./sqs-message.ts";
import { summarise } from "./sqs-summary.ts";

let nowMs: number;
let books: SqsBooks;

beforeEach(() => {
  nowMs = 1_000_000;
  books = new SqsBooks(() => nowMs);
});

/** Sends a message that is acknowledged. */
function sent(queue: string, more: { group?: string; delayMs?: number } = {}): SqsMessage {
  const { group = null, delayMs = 0 } = more;
  const { message } = books.intend({ queue, group, bytes: 20, delayMs });
  books.acknowledged(message);
  return message;
}

/** Receives messages, for the `count`th time each. */
function take(queue: string, messages: readonly SqsMessage[], count = 1, askedAtMs = nowMs) {
  const given = messages.map(({ tag, bytes }) => ({
    ...{ MessageId: `id ${tag}`, ReceiptHandle: `${tag} ${count}`, Body: bodyOf(tag, bytes) },
    Attributes: { ApproximateReceiveCount: `${count}` },
  }));
  return books.receivedFrom(queue, given, askedAtMs);
}

describe("the books of clients of SQS", () => {
  it("have nothing to say of a message that is received and deleted once", () => {
    const [taken] = take("plain", [sent("plain")]);
    if (taken === undefined) throw new Error("nothing was taken");
    books.deleting(taken);
    books.deleted(taken);
    expect(summarise(books)).toMatchObject({ sent: 1, acknowledged: 1, lost: 0, deleted: 1, violations: 0 });
  });

  it("count what was acknowledged and never came as lost, and what nobody answered not", () => {
    sent("plain");
    books.intend({ queue: "plain", group: null, bytes: 5, delayMs: 0 });
    expect(summarise(books)).toMatchObject({ sent: 2, lost: 1, unanswered: 1 });
    expect(books.owed).toBe(1);
  });

  it.each([
    [VISIBILITY_MS - 1, [expect.stringMatching(/came 1 ms before its visibility timeout was over/)]],
    [VISIBILITY_MS, []],
    [VISIBILITY_MS + 1, []],
  ])("know when a message may come again: %i ms after it was received", (afterMs, violations) => {
    const message = sent("plain");
    take("plain", [message]);
    nowMs += afterMs;
    take("plain", [message], 2);
    expect(books.violationTexts).toEqual(violations);
  });

  it.each([
    [999, [expect.stringMatching(/came 1 ms before its delay was over/)]],
    [1_000, []],
  ])("know when a delay of 1 s is over: after %i ms", (afterMs, violations) => {
    const message = sent("plain", { delayMs: 1_000 });
    nowMs += afterMs;
    take("plain", [message]);
    expect(books.violationTexts).toEqual(violations);
  });

  it("take a deletion for final where the message was hidden, and where it was not for unknown", () => {
    for (const [afterMs, violations] of [
      [VISIBILITY_MS - 1, 1],
      [VISIBILITY_MS, 1],
    ] as const) {
      const message = sent("plain");
      const [taken] = take("plain", [message]);
      if (taken === undefined) throw new Error("nothing was taken");
      nowMs += afterMs;
      books.deleting(taken);
      books.deleted(taken);
      nowMs += VISIBILITY_MS;
      take("plain", [message], 2);
      expect(books.violations).toBe(violations);
    }
    expect(books.violationTexts).toEqual([expect.stringMatching(/came again after its deletion/)]);
  });

  it("let what was changed to be visible come at once, and what was changed to be hidden not", () => {
    const messages = [sent("plain"), sent("plain")];
    const [shown, hidden] = take("plain", messages);
    if (shown === undefined || hidden === undefined) throw new Error("nothing was taken");
    books.changing(shown);
    books.changed(shown, nowMs, 0);
    books.changing(hidden);
    books.changed(hidden, nowMs, 2 * VISIBILITY_MS);
    nowMs += VISIBILITY_MS;
    take("plain", messages, 2);
    expect(books.violationTexts).toEqual([expect.stringMatching(/^message 1 .* visibility timeout/)]);
  });

  it("pass over an answer that a later receive has overtaken", () => {
    const message = sent("plain");
    const askedAtMs = nowMs;
    nowMs += VISIBILITY_MS;
    take("plain", [message], 2);
    expect(take("plain", [message], 1, askedAtMs)).toEqual([]);
    expect([books.late, books.violations]).toEqual([1, 0]);
  });

  it("want the messages of a group in order: behind one that is not deleted comes only what came along with it", () => {
    const [one, two, other] = [
      sent("ordered.fifo", { group: "a" }),
      sent("ordered.fifo", { group: "a" }),
    ].concat(sent("ordered.fifo", { group: "b" }));
    if (one === undefined || two === undefined || other === undefined) throw new Error("nothing was sent");
    take("ordered.fifo", [other]);
    take("ordered.fifo", [one, two]);
    expect(books.violationTexts).toEqual([]);
    nowMs += VISIBILITY_MS;
    take("ordered.fifo", [two], 2);
    expect(books.violationTexts).toEqual([expect.stringMatching(/came before message 0 of its group/)]);
  });

  it("see a deduplication id that stored two messages", () => {
    const message = sent("ordered.fifo", { group: "a" });
    take("ordered.fifo", [message]);
    nowMs += VISIBILITY_MS;
    const Body = bodyOf(message.tag, message.bytes);
    const Attributes = { ApproximateReceiveCount: "1" };
    books.receivedFrom(
      "ordered.fifo",
      [{ MessageId: "another", ReceiptHandle: "x", Body, Attributes }],
      nowMs,
    );
    expect(books.violationTexts).toContainEqual(expect.stringMatching(/came as two messages/));
  });

  it("see a body that nobody sent, a foreign queue, and a receive too many", () => {
    const message = sent("few-receives");
    take("plain", [message]);
    take("few-receives", [message], 4);
    const stranger = { MessageId: "x", ReceiptHandle: "x", Body: "7:nobody" };
    books.receivedFrom("plain", [stranger], nowMs);
    expect(books.violationTexts).toEqual([
      expect.stringMatching(/message 0 of queue "few-receives" came out of "plain"/),
      expect.stringMatching(/received for the 4th time/),
      expect.stringMatching(/a body that nobody sent/),
    ]);
  });

  it("follow a message to the dead-letter queue, and not back", () => {
    const message = sent("few-receives");
    take("few-receives", [message], 3);
    nowMs += VISIBILITY_MS;
    expect(take(DEAD_QUEUE, [message], 1)).toHaveLength(1);
    expect(take("few-receives", [message], 3)).toEqual([]);
    expect([books.late, books.violations]).toEqual([1, 0]);
  });
});
