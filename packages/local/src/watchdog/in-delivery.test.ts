import type { InDelivery } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { describeInDelivery, workersIn } from "./in-delivery.ts";

const delivery = (queue: string, worker: string | null = "mailer"): InDelivery => ({
  queue,
  worker,
  messages: 2,
  attempt: 3,
  sinceMs: Date.UTC(2026, 0, 2, 3, 4, 5),
});
const read = (deliveries: readonly InDelivery[]) => ({ kind: "read", deliveries }) as const;

describe("what is in delivery", () => {
  it("is said with the queue, the Worker or the endpoint, the time and the attempt", () => {
    expect(describeInDelivery(read([delivery("mails"), delivery("posts", null)]))).toBe(
      'In delivery:\n  queue "mails": 2 messages with mailer since 2026-01-02T03:04:05.000Z, attempt 3\n' +
        '  queue "posts": 2 messages with an HTTP endpoint since 2026-01-02T03:04:05.000Z, attempt 3',
    );
  });

  it("is said to be nothing", () => {
    expect(describeInDelivery(read([]))).toBe("Nothing is in delivery to a queue() handler.");
  });

  it("is said to be unreadable", () => {
    expect(describeInDelivery({ kind: "unreadable", error: new Error("no folder") })).toBe(
      "What is in delivery cannot be read: Error: no folder",
    );
  });

  it.each([
    [10, 11, undefined],
    [11, 12, "  and 1 more queue"],
  ])("names ten queues at most: %i", (count, lines, last) => {
    const all = Array.from({ length: count }, (_, i) => delivery(`q${i}`));
    const text = describeInDelivery(read(all)).split("\n");
    expect(text).toHaveLength(lines);
    if (last !== undefined) expect(text.at(-1)).toBe(last);
  });

  it("is with Workers, and with endpoints that can end no runtime", () => {
    expect(workersIn(read([delivery("a", "x"), delivery("b", null), delivery("c", "y")]))).toEqual([
      "x",
      "y",
    ]);
    expect(workersIn({ kind: "unreadable", error: "" })).toBeNull();
  });
});
