import { describe, expect, it } from "vitest";
import { describeInDelivery } from "./in-delivery.ts";

const delivery = (queue: string) => ({
  ...{ queue, consumer: "mailer", messages: 2, attempt: 3 },
  sinceMs: Date.UTC(2026, 0, 2, 3, 4, 5),
});

describe("what is in delivery", () => {
  it("is said with the queue, the Worker, the time and the attempt", () => {
    expect(describeInDelivery([delivery("mails")])).toBe(
      'In delivery:\n  queue "mails": 2 message(s) with mailer since 2026-01-02T03:04:05.000Z, attempt 3',
    );
  });

  it("is said to be nothing", () => {
    expect(describeInDelivery([])).toBe("Nothing is in delivery to a queue() handler.");
  });

  it.each([
    [10, 11, undefined],
    [11, 12, "  and 1 more queue(s)"],
  ])("names ten queues at most: %i", (count, lines, last) => {
    const text = describeInDelivery(Array.from({ length: count }, (_, i) => delivery(`q${i}`))).split("\n");
    expect(text).toHaveLength(lines);
    if (last !== undefined) expect(text.at(-1)).toBe(last);
  });
});
