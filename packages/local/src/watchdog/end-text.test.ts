import type { InDelivery } from "@sluice/protocol";
import { expect, it } from "vitest";
import { endText, silentText } from "./end-text.ts";

const delivery = (worker: string | null): InDelivery => ({
  queue: "mails",
  worker,
  messages: 1,
  attempt: 1,
  sinceMs: 0,
});
const read = (...deliveries: InDelivery[]) => ({ kind: "read", deliveries }) as const;
const UNPLANNED = { kind: "unplanned" } as const;
const IDLE = "Nothing is in delivery to a queue() handler.";

it("Workers that answer nothing are said to, and no handler is blamed before what was in delivery is known", () => {
  expect(silentText(30_000, false, false)).toBe("The Workers have not answered for 30 s. workerd is ended.");
  expect(silentText(30_000, false, true)).toMatch(/left alone\.$/);
  expect(silentText(60_000, true, false)).toMatch(
    /^workerd has not answered for 60 s since its start: the machine/,
  );
});

it("a silence while nothing is in delivery is no queue() handler's, and no delivery counts", () => {
  expect(endText("silent", UNPLANNED, read())).toBe(
    "No queue() handler was at work: other code of the Workers, such as fetch(), computes without a pause, or the " +
      `machine is too busy. workerd was ended and is started again.\n${IDLE}`,
  );
  expect(endText(134, UNPLANNED, read())).toBe(
    `workerd has ended by itself with 134 and is started again.\n${IDLE}`,
  );
});

it("a silence while only HTTP endpoints have deliveries is no queue() handler's, and these count", () => {
  const text = endText("silent", UNPLANNED, read(delivery(null)));
  expect(text).toContain("No queue() handler was at work");
  expect(text).toContain("The deliveries that this end cuts off count as attempts.\nIn delivery:\n");
});

it("a silence while a Worker has a delivery is its handler's", () => {
  const blamed = { kind: "blamed", worker: "mailer", slotMs: 10_000 } as const;
  const text = endText("silent", blamed, read(delivery("mailer")));
  expect(text).toMatch(
    /^A handler computes without a pause, or never ends\. workerd was ended and is started again\. Of the deliveries .* those of "mailer" count/,
  );
  expect(endText(1, blamed, read(delivery("mailer")))).not.toContain("without a pause");
});

it("where what was in delivery cannot be read, nobody is blamed", () => {
  expect(endText("silent", UNPLANNED, { kind: "unreadable", error: "no disk" })).toBe(
    "workerd was ended and is started again. The deliveries that this end cuts off count as attempts.\n" +
      "What is in delivery cannot be read: no disk",
  );
});
