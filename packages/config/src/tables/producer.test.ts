import { describe, expect, test } from "vitest";
import { diagnosticsOf, errorsOf, readJson, readToml, warningsOf } from "../../test/project.ts";

const WHO_REFUSES =
  'Cloudflare refuses it when the Worker is deployed. "wrangler dev" alone would take any name, and so ' +
  "would hide that.";

const DEPRECATION =
  `The "delivery_delay" field in "queues.producers[0]" is deprecated and has no effect. Queue-level ` +
  `settings should be configured using "wrangler queues update" instead. This setting will be removed ` +
  "in a future version.";

function readProducer(producer: unknown) {
  return readJson({ name: "w", queues: { producers: [producer] } });
}

test("a producer binds a queue", () => {
  const config = readToml(`name = "w"\n[[queues.producers]]\nbinding = "MY_QUEUE"\nqueue = "my-queue"`);
  expect(config.producers).toEqual([{ binding: "MY_QUEUE", queue: "my-queue" }]);
  expect(config.warnings).toEqual([]);
});

// conformance: producer-keys
test("a producer without a queue sends to one called like the binding", () => {
  expect(readProducer({ binding: "MY_QUEUE" }).producers).toEqual([
    { binding: "MY_QUEUE", queue: "MY_QUEUE" },
  ]);
});

// conformance: producer-keys
test("a producer may be remote, which changes nothing", () => {
  expect(readProducer({ binding: "Q", queue: "q", remote: true })).toMatchObject({
    producers: [{ binding: "Q", queue: "q" }],
    warnings: [],
  });
});

describe("the delivery_delay of a producer", () => {
  // conformance: producer-delivery-delay
  test("is honoured, with Wrangler's deprecation and a word on what becomes of it", () => {
    const config = readToml(`name = "w"
[[queues.producers]]
binding = "Q"
queue = "q"
delivery_delay = 60`);
    expect(config.producers).toEqual([{ binding: "Q", queue: "q", deliveryDelaySeconds: 60 }]);
    expect(config.warnings).toMatchObject([
      { severity: "warning", line: 5, key: "queues.producers[0].delivery_delay", text: DEPRECATION },
      { severity: "warning", line: 5, key: "queues.producers[0].delivery_delay" },
    ]);
    expect(config.warnings[1]?.text).toContain(
      'what is sent through "Q" without a delay of its own waits 60 s',
    );
  });

  test("may be 0 to 86,400 seconds", () => {
    for (const delay of [0, 1, 86_399, 86_400]) {
      const [producer] = readProducer({ binding: "Q", queue: "q", delivery_delay: delay }).producers;
      expect(producer?.deliveryDelaySeconds).toBe(delay);
    }
    for (const delay of [-1, 0.5, 86_401]) {
      expect(
        diagnosticsOf(() => readProducer({ binding: "Q", queue: "q", delivery_delay: delay })),
      ).toMatchObject([
        {
          severity: "error",
          key: "queues.producers[0].delivery_delay",
          text:
            `The field "queues.producers[0].delivery_delay" should be a whole number of seconds from 0 to ` +
            `86400 but got ${delay}.`,
        },
        { severity: "warning", text: DEPRECATION },
      ]);
    }
  });
});

test("a producer's queue must have a valid name", () => {
  const toml = `name = "w"\n[[queues.producers]]\nbinding = "Q"\nqueue = "my_queue"`;
  expect(diagnosticsOf(() => readToml(toml))).toMatchObject([
    {
      line: 4,
      key: "queues.producers[0].queue",
      text:
        "Invalid queue name: invalid queue name: my_queue. Must match " +
        `^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$\n${WHO_REFUSES}`,
    },
  ]);
  expect(readProducer({ binding: "Q", queue: "q".repeat(63) }).producers).toHaveLength(1);
  expect(errorsOf(() => readProducer({ binding: "Q", queue: "q".repeat(64) }))).toHaveLength(1);
});

// conformance: wranglers-own-messages, producer-keys
describe("what Wrangler refuses in a producer", () => {
  test.each([["q"], [5], [null], [true]])("Wrangler refuses %j for a producer", (producer) => {
    expect(errorsOf(() => readProducer(producer))).toEqual([
      `"queue" bindings should be objects, but got ${JSON.stringify(producer)}`,
    ]);
  });

  test.each([[{ queue: "q" }], [{ binding: 5, queue: "q" }], [{ binding: null }], [[]]])(
    "Wrangler refuses %j, which has no binding",
    (producer) => {
      expect(errorsOf(() => readProducer(producer))).toEqual([
        `"queues.producers[0]" bindings should have a string "binding" field but got ${JSON.stringify(producer)}.`,
      ]);
    },
  );

  test.each([[""], [5], [null]])("Wrangler refuses a queue of %j", (queue) => {
    expect(errorsOf(() => readProducer({ binding: "Q", queue }))).toEqual([
      `"queues.producers[0]" bindings should optionally have a non-empty string "queue" field but got ` +
        `{"binding":"Q","queue":${JSON.stringify(queue)}}.`,
    ]);
  });

  test("Wrangler refuses a delivery_delay that is no number", () => {
    expect(errorsOf(() => readProducer({ binding: "Q", queue: "q", delivery_delay: "5" }))).toEqual([
      `"queues.producers[0]" should, optionally, have a number "delivery_delay" field but got ` +
        `{"binding":"Q","queue":"q","delivery_delay":"5"}.`,
    ]);
  });

  test("Wrangler refuses a remote that is no boolean", () => {
    expect(errorsOf(() => readProducer({ binding: "Q", queue: "q", remote: "yes" }))).toEqual([
      `"queues.producers[0]" should, optionally, have a boolean "remote" field but got ` +
        `{"binding":"Q","queue":"q","remote":"yes"}.`,
    ]);
  });
});

describe("an unknown key of a producer", () => {
  test("is warned of, and Wrangler says nothing more about that producer", () => {
    const config = readProducer({ binding: "Q", queue: "q", delivery_delay: 5, extra: 1, remote: "yes" });
    expect(config.producers).toEqual([{ binding: "Q", queue: "q", deliveryDelaySeconds: 5 }]);
    const texts = warningsOf(config);
    expect(texts[0]).toBe(`Unexpected fields found in queues.producers[0] field: "extra"`);
    expect(texts).not.toContain(DEPRECATION);
    expect(texts).toHaveLength(2);
  });

  test("lets no producer pass that cannot be bound", () => {
    expect(errorsOf(() => readProducer({ queue: "q", extra: 1 }))).toEqual([
      `"queues.producers[0]" bindings should have a string "binding" field but got {"queue":"q","extra":1}.`,
    ]);
  });
});
