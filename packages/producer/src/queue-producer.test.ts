import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createProducer, NO_BACKLOG } from "../test/fake-broker.ts";

const METRICS = { metadata: { metrics: { backlogCount: 0, backlogBytes: 0 } } };

/** Text of as many bytes as asked for, all of them one character each or three bytes to a character. */
const ascii = (bytes: number) => "a".repeat(bytes);
const wide = (bytes: number) => "€".repeat(Math.floor(bytes / 3)) + "a".repeat(bytes % 3);

// conformance: message-size
describe("message size (spec cloudflare-queues 1.6)", () => {
  const TOO_LARGE = "message length of 128001 bytes exceeds limit of 128000 (10204)";

  it.each([127_999, 128_000])("sends a message of %i bytes", async (bytes) => {
    const { producer, broker } = createProducer();
    await producer.send(ascii(bytes), { contentType: "text" });
    await producer.send(wide(bytes), { contentType: "text" });
    await producer.send(new Uint8Array(bytes), { contentType: "bytes" });
    await producer.send(ascii(bytes - 2));
    expect(broker.messages.map(({ body }) => body.byteLength)).toEqual([bytes, bytes, bytes, bytes]);
  });

  it("refuses a message of 128,001 bytes with 10204", async () => {
    const { producer, broker } = createProducer();
    await expect(producer.send(ascii(128_001), { contentType: "text" })).rejects.toThrow(
      new Error(TOO_LARGE),
    );
    await expect(producer.send(wide(128_001), { contentType: "text" })).rejects.toThrow(new Error(TOO_LARGE));
    await expect(producer.send(ascii(127_999))).rejects.toThrow(new Error(TOO_LARGE));
    await expect(producer.send(new Uint8Array(128_001), { contentType: "bytes" })).rejects.toThrow(
      new Error(TOO_LARGE),
    );
    expect(broker.calls).toEqual([]);
  });

  it("reads `Queue send failed: <cause>` without queue_expose_error_codes", async () => {
    const { producer } = createProducer({ exposeErrorCodes: false });
    await expect(producer.send(ascii(128_001), { contentType: "text" })).rejects.toThrow(
      new Error("Queue send failed: message length of 128001 bytes exceeds limit of 128000"),
    );
  });

  it("detaches bytes that are refused, as the binding does before the broker sees them", async () => {
    const { producer } = createProducer();
    const view = new Uint8Array(128_001);
    await expect(producer.send(view, { contentType: "bytes" })).rejects.toThrow("10204");
    expect(view.byteLength).toBe(0);
  });
});

// conformance: batch-size
describe("batch limits (spec cloudflare-queues 1.6)", () => {
  const messages = (...sizes: number[]) =>
    sizes.map((bytes) => ({ body: new Uint8Array(bytes), contentType: "bytes" as const }));

  it.each([99, 100])("sends a batch of %i messages", async (count) => {
    const { producer, broker } = createProducer();
    await producer.sendBatch(messages(...Array.from({ length: count }, () => 1)));
    expect(broker.messages).toHaveLength(count);
  });

  it("refuses a batch of 101 messages with 10206", async () => {
    const { producer, broker } = createProducer();
    await expect(producer.sendBatch(messages(...Array.from({ length: 101 }, () => 1)))).rejects.toThrow(
      new Error("batch message count of 101 exceeds limit of 100 (10206)"),
    );
    expect(broker.calls).toEqual([]);
  });

  it.each([127_999, 128_000])("sends a batch whose largest message has %i bytes", async (bytes) => {
    const { producer, broker } = createProducer();
    await producer.sendBatch(messages(1, bytes));
    expect(broker.messages.map(({ body }) => body.byteLength)).toEqual([1, bytes]);
  });

  it("refuses a batch with a message of 128,001 bytes with 10204", async () => {
    const { producer } = createProducer();
    await expect(producer.sendBatch(messages(1, 128_001))).rejects.toThrow(
      new Error(
        "message in batch has length 128001 bytes which exceeds single message size limit of 128000 (10204)",
      ),
    );
  });

  it.each([255_999, 256_000])("sends a batch of %i bytes", async (bytes) => {
    const { producer, broker } = createProducer();
    await producer.sendBatch([{ body: ascii(128_000), contentType: "text" }, ...messages(bytes - 128_000)]);
    expect(broker.messages).toHaveLength(2);
  });

  // conformance: refusals-before-codes
  it("refuses a batch of 256,001 bytes with 10205", async () => {
    const { producer } = createProducer({ exposeErrorCodes: false });
    const batch = [{ body: ascii(128_000), contentType: "text" as const }, ...messages(128_000, 1)];
    await expect(producer.sendBatch(batch)).rejects.toThrow(
      new Error("Queue sendBatch failed: batch size of 256001 bytes exceeds limit of 256000"),
    );
  });
});

// conformance: delay-range
describe("delays", () => {
  it.each([0, 1, 86_399, 86_400])("sends with a delay of %i seconds", async (delaySeconds) => {
    const { producer, broker } = createProducer();
    await producer.send("a", { delaySeconds });
    await producer.sendBatch([{ body: "b" }, { body: "c", delaySeconds }], { delaySeconds });
    expect(broker.messages.map((m) => [m.delaySeconds, m.requestDelaySeconds])).toEqual([
      [delaySeconds, undefined],
      [undefined, delaySeconds],
      [delaySeconds, delaySeconds],
    ]);
  });

  it.each([-1, 86_401])(
    "refuses a delay of %i seconds: 10203 for a message, 10202 for a batch",
    async (delay) => {
      const { producer, broker } = createProducer();
      const range = "it must be from 0 to 86400 seconds";
      const ofMessage = new Error(`message delay ${delay} is invalid: ${range} (10203)`);
      const ofBatch = new Error(`batch delay ${delay} is invalid: ${range} (10202)`);
      await expect(producer.send("a", { delaySeconds: delay })).rejects.toThrow(ofMessage);
      await expect(producer.sendBatch([{ body: "a", delaySeconds: delay }])).rejects.toThrow(ofMessage);
      await expect(producer.sendBatch([{ body: "a" }], { delaySeconds: delay })).rejects.toThrow(ofBatch);
      expect(broker.calls).toEqual([]);
    },
  );

  it("takes the message's own, the batch's, or the binding's, and else leaves it to the queue (1.5)", async () => {
    const delays = async (deliveryDelaySeconds: number | undefined) => {
      const { producer, broker } = createProducer({ deliveryDelaySeconds });
      await producer.sendBatch([{ body: 1, delaySeconds: 0 }], { delaySeconds: 2 });
      await producer.sendBatch([{ body: 1 }], { delaySeconds: 0 });
      await producer.sendBatch([{ body: 1 }]);
      await producer.send(1);
      return broker.messages.map((m) => m.delaySeconds ?? m.requestDelaySeconds);
    };
    expect(await delays(3)).toEqual([0, 0, 3, 3]);
    expect(await delays(undefined)).toEqual([0, 0, undefined, undefined]);
  });
});

describe("messages", () => {
  it("messages have random ids of 32 hex characters, each its own", async () => {
    const { producer, broker } = createProducer();
    await Promise.all(Array.from({ length: 1_000 }, (_, i) => producer.send(i)));
    const ids = broker.messages.map(({ id }) => id);
    expect(new Set(ids).size).toBe(1_000);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
  });

  it("messages have the content type that the compatibility date implies unless they name one (1.2)", async () => {
    for (const defaultContentType of ["json", "v8"] as const) {
      const { producer, broker } = createProducer({ defaultContentType });
      await producer.send("a");
      await producer.sendBatch([{ body: "b" }, { body: "c", contentType: "text" }]);
      const types = broker.messages.map(({ contentType }) => contentType);
      expect(types).toEqual([defaultContentType, defaultContentType, "text"]);
    }
  });

  it("messages are not stamped: the broker does that", async () => {
    const { producer, broker } = createProducer();
    await producer.send("a");
    expect(broker.messages[0]?.timestampMs).toBe(0);
  });

  it("messages are what they were when send() was called", async () => {
    const { producer, broker } = createProducer();
    const body = { state: "sent" };
    const sent = producer.send(body);
    body.state = "changed";
    await sent;
    expect(broker.bodies).toEqual([['{"state":"sent"}']]);
  });

  it("may send others while they are serialized", async () => {
    const { producer, broker } = createProducer();
    const nested: Promise<unknown>[] = [];
    const body = {
      toJSON() {
        nested.push(producer.send("inner"));
        return "outer";
      },
    };
    await producer.sendBatch([{ body: 1 }, { body }, { body: 2 }]);
    await Promise.all(nested);
    expect(broker.bodies).toEqual([['"inner"', "1", '"outer"', "2"]]);
  });

  it.each([
    ["a function", () => 1],
    ["a symbol", Symbol("s")],
  ])(
    "messages are not %s as json, which production would store as text that no consumer can parse",
    async (_name, body) => {
      const { producer } = createProducer();
      await expect(producer.send(body)).rejects.toThrow(TypeError);
      await expect(producer.sendBatch([{ body }])).rejects.toThrow(
        new TypeError(`Content Type "json" requires a value of type JSON, but received: ${typeof body}`),
      );
    },
  );
});

it("results carry the metrics, with the oldest timestamp as a Date", async () => {
  const { producer, broker } = createProducer();
  const metrics = { backlogCount: 2, backlogBytes: 30, oldestMessageTimestampMs: 1_700_000_000_000 };
  broker.answer = () => ({ ok: true, metrics });
  broker.backlog = () => metrics;
  const shown = { backlogCount: 2, backlogBytes: 30, oldestMessageTimestamp: new Date(1_700_000_000_000) };
  expect(await producer.send(1)).toStrictEqual({ metadata: { metrics: shown } });
  expect(await producer.sendBatch([{ body: 1 }])).toStrictEqual({ metadata: { metrics: shown } });
  expect(await producer.metrics()).toStrictEqual(shown);
});

it("results have no oldest timestamp when the broker reports 0", async () => {
  const { producer } = createProducer();
  expect(await producer.send(1)).toStrictEqual(METRICS);
  expect(await producer.metrics()).toStrictEqual(METRICS.metadata.metrics);
});

describe("a broker that does not answer", () => {
  const log = vi.spyOn(console, "error");
  beforeEach(() => {
    log.mockImplementation(() => {});
  });
  afterEach(() => {
    log.mockReset();
  });

  it("is an internal error with code 15000, and the reason is logged", async () => {
    const { producer, broker } = createProducer();
    const reason = new Error("no such Worker");
    broker.answer = () => Promise.reject(reason);
    broker.backlog = () => {
      throw reason;
    };
    const internal = new Error("Unknown Internal Error (15000)");
    await expect(producer.send(1)).rejects.toThrow(internal);
    await expect(producer.sendBatch([{ body: 1 }])).rejects.toThrow(internal);
    await expect(producer.metrics()).rejects.toThrow(internal);
    expect(log.mock.calls).toEqual(
      Array.from({ length: 3 }, () => ['Sluice: the broker of queue "orders" did not answer:', reason]),
    );
  });

  it("reads `Internal Server Error` without queue_expose_error_codes, but not in metrics()", async () => {
    const { producer, broker } = createProducer({ exposeErrorCodes: false });
    broker.answer = broker.backlog = () => {
      throw new Error("no such Worker");
    };
    await expect(producer.send(1)).rejects.toThrow(new Error("Queue send failed: Internal Server Error"));
    await expect(producer.sendBatch([{ body: 1 }])).rejects.toThrow(
      new Error("Queue sendBatch failed: Internal Server Error"),
    );
    await expect(producer.metrics()).rejects.toThrow(new Error("Unknown Internal Error (15000)"));
  });

  it("is a queue that does not exist when it says so: 10104, without a word in the log", async () => {
    const { producer, broker } = createProducer();
    broker.backlog = () => {
      throw new Error('queue "orders" does not exist (10104)');
    };
    await expect(producer.metrics()).rejects.toThrow(new Error('Queue "orders" does not exist. (10104)'));
    expect(log).not.toHaveBeenCalled();
  });

  // conformance: binding-failures
  it("is overloaded when the platform says so: 10250", async () => {
    const { producer, broker } = createProducer();
    broker.answer = () => {
      throw Object.assign(new Error("Durable Object is overloaded."), { overloaded: true });
    };
    await expect(producer.send(1)).rejects.toThrow(
      new Error("Queue is overloaded. Please back off. (10250)"),
    );
  });

  it("has a full disk when the platform says so: 10251", async () => {
    const { producer, broker } = createProducer();
    broker.answer = () => {
      throw Object.assign(new Error("database or disk is full: SQLITE_FULL"), { durableObjectReset: true });
    };
    await expect(producer.send(1)).rejects.toThrow(
      new Error("Queue storage limit exceeded: its disk or its database is full. (10251)"),
    );
  });

  it("is looked up for every call, so that it can come back", async () => {
    const { broker } = createProducer();
    const found = [
      () => {
        throw new Error("not yet");
      },
      () => broker,
    ];
    const { producer } = createProducer({ broker: () => (found.shift() ?? (() => broker))() });
    await expect(producer.send(1)).rejects.toThrow("15000");
    expect(await producer.send(2)).toStrictEqual(METRICS);
  });

  it("does not reject the sends of later calls", async () => {
    const { producer, broker } = createProducer();
    const answers = [{ ok: false, code: 10250, cause: "Queue is overloaded." } as const];
    broker.answer = () => answers.shift() ?? { ok: true, metrics: NO_BACKLOG };
    const first = [producer.send(1), producer.sendBatch([{ body: 2 }])];
    for (const sent of first) await expect(sent).rejects.toThrow("Queue is overloaded. (10250)");
    expect(await producer.send(3)).toStrictEqual(METRICS);
  });
});
