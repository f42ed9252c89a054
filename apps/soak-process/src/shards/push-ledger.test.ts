import { beforeEach, expect, it } from "vitest";
import { PushLedger } from "./push-ledger.ts";

let ledger: PushLedger;
beforeEach(() => {
  ledger = new PushLedger();
});

/** Sends a message; its body is returned. */
function sent(group: string | null = null): string {
  const { message, body } = ledger.intend({ queue: "pushed", group, bytes: 20, delayMs: 0 });
  ledger.acknowledged(message);
  return body;
}

function arrived(body: string) {
  const message = ledger.arrived({ queue: "pushed", body, concurrencyMax: 2 });
  if (message === null) throw new Error("the body is unknown");
  return message;
}

it("messages that come one after the other, and again after a kill, are no violation", () => {
  const [first, second] = [sent("g"), sent("g")];
  expect(ledger.owed).toBe(2);
  ledger.left(arrived(first), false);
  ledger.left(arrived(first), true);
  ledger.killed();
  ledger.left(arrived(first), true);
  ledger.left(arrived(second), true);
  expect(ledger).toMatchObject({ owed: 0, violationTexts: [], pushed: 4, repeated: 1 });
});

it("as many open requests as the queue may have are no violation, one more is", () => {
  const [first, second, third] = [sent(), sent(), sent()];
  arrived(first);
  arrived(second);
  expect(ledger.violationTexts).toEqual([]);
  arrived(third);
  expect(ledger.violationTexts).toEqual(['queue "pushed" has 3 requests open at a time']);
});

it("requests that a kill has ended are not open any more", () => {
  for (const body of [sent(), sent()]) arrived(body);
  ledger.killed();
  for (const body of [sent(), sent()]) arrived(body);
  expect(ledger.violationTexts).toEqual([]);
});

it("a message that comes again without a kill after it was done is a violation", () => {
  const body = sent();
  ledger.left(arrived(body), true);
  arrived(body);
  expect(ledger.violationTexts).toEqual([
    'message 0 of queue "pushed" came again after it was done, without a kill between',
  ]);
});

it("a message that is under way twice is a violation", () => {
  const body = sent();
  arrived(body);
  arrived(body);
  expect(ledger.violationTexts).toEqual(['message 0 of queue "pushed" is under way twice']);
});

it("a message before an earlier one of its group that is not done is a violation, in either order", () => {
  const [first, second] = [sent("g"), sent("g")];
  ledger.left(arrived(second), true);
  expect(ledger.violationTexts).toEqual([
    'message 1 of queue "pushed" came before message 0 of its group, which is not done',
  ]);
  arrived(first);
  expect(ledger.violationTexts[1]).toBe('message 0 of queue "pushed" came after message 1 of its group');
});
