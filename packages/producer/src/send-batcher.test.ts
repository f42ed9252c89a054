import { describe, expect, it, vi } from "vitest";
import { createProducer } from "../test/fake-broker.ts";
import { MESSAGE_IDS_MAX } from "./message-ids.ts";
import { CALL_BYTES_FULL } from "./send-batcher.ts";

describe("concurrent sends", () => {
  it("concurrent sends of one microtask checkpoint share one call, in order", async () => {
    const { producer, broker } = createProducer();
    await Promise.all([
      producer.send(1),
      producer.sendBatch([{ body: 2 }, { body: 3 }]),
      Promise.resolve().then(() => producer.send(4)),
      (async () => {
        await null;
        await null;
        await producer.send(5);
      })(),
    ]);
    expect(broker.bodies).toEqual([["1", "2", "3", "4", "5"]]);
  });

  it("concurrent sends that name the same delay share one packed batch", async () => {
    const { producer, broker } = createProducer({ deliveryDelaySeconds: 3 });
    await Promise.all([
      producer.send(1),
      producer.send(2, { delaySeconds: 9 }),
      producer.sendBatch([{ body: 3 }], { delaySeconds: 3 }),
      producer.sendBatch([{ body: 4 }], { delaySeconds: 0 }),
      producer.sendBatch([{ body: 5 }]),
    ]);
    expect(broker.calls).toHaveLength(1);
    expect(broker.calls[0]?.requests.map(({ delaySeconds }) => delaySeconds)).toEqual([3, 0, 3]);
    expect(broker.messages.map((m) => m.delaySeconds ?? m.requestDelaySeconds)).toEqual([3, 9, 3, 0, 3]);
  });

  it("concurrent sends go out with the bytes that they had", async () => {
    const { producer, broker } = createProducer();
    const bytes = new TextEncoder().encode("before");
    const sent = producer.sendBatch([
      { body: bytes, contentType: "bytes" },
      { body: "text", contentType: "text" },
      { body: bytes.subarray(1, 4), contentType: "bytes" },
    ]);
    bytes.fill(0);
    await sent;
    expect(broker.bodies).toEqual([["before", "text", "efo"]]);
  });

  it("concurrent sends of any number and of any text have their order, and ids of their own", async () => {
    const { producer, broker } = createProducer();
    const texts = Array.from({ length: 1_000 }, (_, i) => (i === 300 ? "äöü" : `${i}`));
    await Promise.all(texts.map((text) => producer.send(text, { contentType: "text" })));
    expect(broker.bodies).toEqual([texts]);
    expect(new Set(broker.messages.map(({ id }) => id)).size).toBe(1_000);
  });

  it("concurrent sends fail if they cannot be packed, and leave nothing to those that come later", async () => {
    const { producer, broker } = createProducer();
    const random = vi.spyOn(crypto, "getRandomValues").mockImplementation(() => {
      throw new Error("no randomness here");
    });
    // More than there are ids left of any that were drawn before.
    const texts = Array.from({ length: 2 * MESSAGE_IDS_MAX }, (_, i) => `${i}`);
    const sent = await Promise.allSettled(texts.map((text) => producer.send(text, { contentType: "text" })));
    random.mockRestore();
    expect(sent.map(({ status }) => status)).toEqual(texts.map(() => "rejected"));
    await producer.send("later", { contentType: "text" });
    expect(broker.bodies).toEqual([["later"]]);
  });

  it("concurrent sends keep their call even if one of them is invalid", async () => {
    const { producer, broker } = createProducer();
    const results = await Promise.allSettled([
      producer.send(1),
      producer.send(undefined),
      producer.send(1n),
      producer.send("a".repeat(128_001)),
      producer.sendBatch([{ body: 2 }, { body: undefined }]),
      producer.send(3),
    ]);
    expect(results.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "rejected",
      "rejected",
      "rejected",
      "fulfilled",
    ]);
    expect(broker.bodies).toEqual([["1", "3"]]);
  });

  it("concurrent sends each get a result of their own", async () => {
    const { producer } = createProducer();
    const [first, second] = await Promise.all([producer.send(1), producer.send(2)]);
    expect(first).toEqual(second);
    expect(first.metadata.metrics).not.toBe(second.metadata.metrics);
  });

  it("concurrent sends fill several calls when they are large", async () => {
    const { producer, broker } = createProducer();
    const body = "a".repeat(100_000);
    const count = 2 * Math.ceil(CALL_BYTES_FULL / body.length);
    await Promise.all(Array.from({ length: count }, () => producer.send(body, { contentType: "text" })));
    const sizes = broker.bodies.map((bodies) => bodies.length);
    expect(sizes.length).toBeGreaterThan(1);
    expect(sizes.reduce((a, b) => a + b)).toBe(count);
    for (const { requests } of broker.calls) {
      const bytes = requests.reduce((sum, { packed }) => sum + packed.byteLength, 0);
      expect(bytes).toBeLessThan(CALL_BYTES_FULL + body.length + 100);
    }
  });
});

describe("a lone send", () => {
  it("is on its way as soon as its microtask checkpoint ends", async () => {
    const { producer, broker } = createProducer();
    const unanswered = Promise.withResolvers<never>();
    broker.answer = () => unanswered.promise;
    const started = new Promise((resolve) => setImmediate(resolve));
    producer.send(1);
    await started;
    expect(broker.bodies).toEqual([["1"]]);
  });

  it("does not wait for the answer to the one before it", async () => {
    const { producer, broker } = createProducer();
    const first = Promise.withResolvers<never>();
    broker.answer = () => first.promise;
    producer.send(1);
    await new Promise((resolve) => setImmediate(resolve));
    producer.send(2);
    await new Promise((resolve) => setImmediate(resolve));
    expect(broker.bodies).toEqual([["1"], ["2"]]);
  });

  it("goes out in memory of its own, without what was sent before", async () => {
    const { producer, broker } = createProducer();
    await producer.send("a".repeat(50_000));
    await producer.send("b");
    const packed = broker.calls[1]?.requests[0]?.packed;
    expect(packed?.buffer.byteLength).toBe(packed?.byteLength);
    expect(packed?.byteLength).toBeLessThan(100);
  });
});
