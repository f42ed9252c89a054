import { inspect } from "node:util";
import { BodyDecodeError, PackedFormatError, packMessages } from "@sluice/protocol";
import { expect, it } from "vitest";
import { deliveryOf, idOf } from "../test/deliveries.ts";
import { BatchState } from "./batch-state.ts";
import { QueueController } from "./queue-controller.ts";

const read = (delivery: Parameters<typeof deliveryOf>[1], ...bodies: unknown[]) =>
  new QueueController(deliveryOf(bodies, delivery), new BatchState(() => {}));

it("a batch has the queue's name and its messages in order, with id, timestamp, attempts and body", () => {
  const batch = read({ attempts: [1, 65_535] }, { a: 1 }, "b");
  expect(batch.queue).toBe("orders");
  expect(batch.messages.map((message) => ({ ...message }))).toEqual([
    { attempts: 1, body: { a: 1 }, timestamp: new Date(1_700_000_000_000), id: idOf(1) },
    { attempts: 65_535, body: "b", timestamp: new Date(1_700_000_000_000), id: idOf(2) },
  ]);
});

it("one number of attempts is that of every message", () => {
  expect(read({ attempts: 3 }, "a", "b").messages.map(({ attempts }) => attempts)).toEqual([3, 3]);
});

it.each([
  ["text", "text"],
  ["bytes", new Uint8Array([1, 2])],
  ["json", [null]],
  ["v8", new Map([[1, new Date(0)]])],
] as const)("a body of content type %s arrives as the value that was sent", (contentType, body) => {
  expect(read({ contentType }, body).messages[0]?.body).toEqual(body);
});

it("metadata has an oldest timestamp only if the broker knows one", () => {
  expect(read({}, "a").metadata).toStrictEqual({ metrics: { backlogCount: 0, backlogBytes: 0 } });
  const metrics = { backlogCount: 2, backlogBytes: 30, oldestMessageTimestampMs: 1_700_000_000_000 };
  expect(read({ metrics }, "a").metadata).toStrictEqual({
    metrics: { backlogCount: 2, backlogBytes: 30, oldestMessageTimestamp: new Date(1_700_000_000_000) },
  });
});

it("a batch prints with its messages, not with their getters", () => {
  const printed = inspect(read({}, "a"), { depth: 5 });
  expect(printed).toMatch(/^QueueController \{/);
  expect(printed).toContain("QueueMessage {");
  expect(printed).toContain("2023-11-14T22:13:20.000Z");
  expect(printed).not.toContain("Getter");
});

it("a body that is not of its content type makes the whole batch unreadable", () => {
  const packed = packMessages([
    { id: idOf(1), contentType: "json", body: new TextEncoder().encode("1") },
    { id: idOf(2), contentType: "json", body: new TextEncoder().encode("undefined") },
  ]);
  expect(() => read({ packed })).toThrow(BodyDecodeError);
});

it("bytes that are no packed batch make it unreadable", () => {
  expect(() => read({ packed: new Uint8Array(3) })).toThrow(PackedFormatError);
});
