import { describe, expect, test } from "vitest";
import { diagnosticsOf, errorsOf, readJson, readToml, warningsOf } from "../../test/project.ts";

const WHO_REFUSES =
  'Cloudflare refuses it when the Worker is deployed. "wrangler dev" alone would take any name, and so ' +
  "would hide that.";

function readConsumer(consumer: unknown) {
  return readJson({ name: "w", queues: { consumers: [consumer] } });
}

function settingsOf(consumer: object) {
  return readConsumer({ queue: "q", ...consumer }).consumers[0]?.settings;
}

test("a consumer that sets nothing has production's defaults, not those of wrangler dev", () => {
  const config = readToml(`name = "w"\n[[queues.consumers]]\nqueue = "q"`);
  expect(config.consumers).toEqual([
    {
      queue: "q",
      type: "worker",
      settings: {
        maxBatchSize: 10,
        maxBatchTimeoutSeconds: 5,
        maxRetries: 3,
        maxConcurrency: null,
        retryDelaySeconds: 0,
        deadLetterQueue: null,
      },
    },
  ]);
  expect(config.warnings).toEqual([]);
});

// conformance: consumer-keys
test("a consumer that sets everything", () => {
  const config = readToml(`name = "w"
[[queues.consumers]]
queue = "my-queue"
type = "worker"
max_batch_size = 30
max_batch_timeout = 10
max_retries = 5
dead_letter_queue = "my-dlq"
max_concurrency = 4
retry_delay = 300
visibility_timeout_ms = 5000`);
  expect(config.consumers).toEqual([
    {
      queue: "my-queue",
      type: "worker",
      settings: {
        maxBatchSize: 30,
        maxBatchTimeoutSeconds: 10,
        maxRetries: 5,
        maxConcurrency: 4,
        retryDelaySeconds: 300,
        deadLetterQueue: "my-dlq",
      },
    },
  ]);
  expect(config.warnings).toEqual([]);
});

// conformance: http-pull-consumer
describe("a consumer of the type http_pull", () => {
  test("a consumer of the type http_pull that sets nothing gives 5 messages to a pull, for 30 s", () => {
    expect(readConsumer({ queue: "q", type: "http_pull" })).toMatchObject({
      consumers: [
        {
          queue: "q",
          type: "http_pull",
          settings: {
            maxBatchSize: 5,
            maxRetries: 3,
            retryDelaySeconds: 0,
            visibilityTimeoutMs: 30_000,
            deadLetterQueue: null,
          },
        },
      ],
      warnings: [],
    });
  });

  test("a consumer of the type http_pull that sets everything", () => {
    const config = readToml(`name = "w"
[[queues.consumers]]
queue = "q"
type = "http_pull"
max_batch_size = 100
max_retries = 5
dead_letter_queue = "dead"
retry_delay = 300
visibility_timeout_ms = 5000`);
    expect(config.consumers[0]?.settings).toEqual({
      maxBatchSize: 100,
      maxRetries: 5,
      retryDelaySeconds: 300,
      visibilityTimeoutMs: 5_000,
      deadLetterQueue: "dead",
    });
    expect(config.warnings).toEqual([]);
  });

  test.each(["max_batch_timeout", "max_concurrency"])("has no use for %s, and says so", (key) => {
    const { warnings } = readConsumer({ queue: "q", type: "http_pull", [key]: 7 });
    expect(warnings).toMatchObject([
      {
        severity: "warning",
        key: `queues.consumers[0].${key}`,
        text: `"${key}" has no effect on a consumer of the type "http_pull".`,
      },
    ]);
  });
});

test("every consumer of a Worker is read, in order", () => {
  const toml = ["c", "a", "b"].map((queue) => `[[queues.consumers]]\nqueue = "${queue}"`).join("\n");
  expect(readToml(`name = "w"\n${toml}`).consumers.map(({ queue }) => queue)).toEqual(["c", "a", "b"]);
});

// conformance: consumer-ranges
describe("ranges, which production enforces at deploy", () => {
  test.each([
    ["max_batch_size", "maxBatchSize", 1, 100, "whole number of messages"],
    ["max_batch_timeout", "maxBatchTimeoutSeconds", 0, 60, "number of seconds"],
    ["max_retries", "maxRetries", 0, 100, "whole number of retries"],
    ["max_concurrency", "maxConcurrency", 1, 250, "whole number of invocations"],
    ["retry_delay", "retryDelaySeconds", 0, 86_400, "whole number of seconds"],
    ["visibility_timeout_ms", "visibilityTimeoutMs", 0, 43_200_000, "whole number of milliseconds"],
  ] as const)("%s", (key, setting, min, max, what) => {
    const refusal = (value: number) => diagnosticsOf(() => readToml(tomlWith(key, String(value))));
    for (const value of [min, min + 1, max - 1, max]) {
      const [consumer] = readToml(tomlWith(key, String(value))).consumers;
      expect(consumer).toMatchObject({ queue: "q", settings: { [setting]: value } });
    }
    for (const value of [min - 1, max + 1]) {
      expect(refusal(value)).toMatchObject([
        {
          severity: "error",
          line: 5,
          key: `queues.consumers[0].${key}`,
          text: `The field "queues.consumers[0].${key}" should be a ${what} from ${min} to ${max} but got ${value}.`,
        },
      ]);
    }
  });

  test.each(["max_batch_size", "max_retries", "max_concurrency", "retry_delay", "visibility_timeout_ms"])(
    "%s has no decimals",
    (key) => {
      expect(diagnosticsOf(() => readToml(tomlWith(key, "1.5")))).toMatchObject([{ line: 5 }]);
    },
  );

  test("max_batch_timeout may have decimals, for the API takes milliseconds", () => {
    expect(settingsOf({ max_batch_timeout: 0.5 })).toMatchObject({ maxBatchTimeoutSeconds: 0.5 });
    expect(diagnosticsOf(() => readConsumer({ queue: "q", max_batch_timeout: 60.001 }))).toHaveLength(1);
  });

  test.each(["nan", "inf", "-inf"])("%s is outside every range", (value) => {
    const [diagnostic] = diagnosticsOf(() => readToml(tomlWith("max_batch_timeout", value)));
    expect(diagnostic?.text).toMatch(/from 0 to 60 but got (NaN|-?Infinity)\.$/);
  });

  function tomlWith(key: string, value: string): string {
    const type = key === "visibility_timeout_ms" ? "http_pull" : "worker";
    return `name = "w"\n[[queues.consumers]]\ntype = "${type}"\nqueue = "q"\n${key} = ${value}`;
  }
});

// conformance: queue-names
describe("queue names, which production enforces at deploy", () => {
  const longest = "q".repeat(63);
  test.each(["q", "0", "a-b", "a--b", "constructor", longest])("%s is one", (name) => {
    expect(readConsumer({ queue: name }).consumers[0]?.queue).toBe(name);
    const consumer = { queue: "source", dead_letter_queue: name };
    expect(readConsumer(consumer).consumers[0]?.settings.deadLetterQueue).toBe(name);
  });

  test.each(["", "-a", "a-", "A", "my_queue", "a.b", " a", "a\n", "é", `${longest}q`])(
    "%j is none",
    (name) => {
      const text =
        `Invalid queue name: invalid queue name: ${name}. Must match ` +
        `^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$\n${WHO_REFUSES}`;
      expect(diagnosticsOf(() => readConsumer({ queue: name }))).toMatchObject([
        { key: "queues.consumers[0].queue", text },
      ]);
      expect(diagnosticsOf(() => readConsumer({ queue: "q", dead_letter_queue: name }))).toMatchObject([
        { key: "queues.consumers[0].dead_letter_queue", text },
      ]);
    },
  );
});

// conformance: wranglers-own-messages, consumer-keys
describe("what Wrangler refuses in a consumer", () => {
  test.each([["q"], [5], [null], [true]])("Wrangler refuses %j for a consumer", (consumer) => {
    expect(errorsOf(() => readConsumer(consumer))).toEqual([
      `"queues.consumers[0]" should be a objects, but got ${JSON.stringify(consumer)}`,
    ]);
  });

  test.each([[{}], [{ queue: 5 }], [{ queue: null }], [[]]])(
    "Wrangler refuses %j, which has no queue",
    (consumer) => {
      expect(errorsOf(() => readConsumer(consumer))).toEqual([
        `"queues.consumers[0]" should have a string "queue" field but got ${JSON.stringify(consumer)}.`,
      ]);
    },
  );

  test('a type other than "worker" and "http_pull"', () => {
    const toml = `name = "w"
[[queues.consumers]]
queue = "a"
[[queues.consumers]]
queue = "q"
type = "pigeon"`;
    expect(diagnosticsOf(() => readToml(toml))).toMatchObject([
      {
        line: 6,
        key: "queues.consumers[1].type",
        text:
          `"queues.consumers[1].type" has an invalid value "pigeon". Only "worker" and "http_pull" ` +
          "consumers can be configured in your Wrangler configuration.",
      },
    ]);
  });

  test.each([
    [5, "5"],
    [null, "null"],
    [{}, "{}"],
  ])("Wrangler refuses a type of %j", (type, shown) => {
    expect(errorsOf(() => readConsumer({ queue: "q", type }))).toEqual([
      `"queues.consumers[0].type" has an invalid value "${shown}". Only "worker" and "http_pull" ` +
        "consumers can be configured in your Wrangler configuration.",
      `"queues.consumers[0]" should, optionally, have a string "type" field but got {"queue":"q","type":${shown}}.`,
    ]);
  });

  test.each([
    ["max_batch_size", "number", "10"],
    ["max_batch_timeout", "number", "10"],
    ["max_retries", "number", true],
    ["dead_letter_queue", "string", 5],
    ["max_concurrency", "number", "10"],
    // Wrangler's type allows null here, its check does not.
    ["max_concurrency", "number", null],
    ["visibility_timeout_ms", "number", {}],
    ["retry_delay", "number", [1]],
  ])("Wrangler refuses %s that is no %s: %j", (key, type, value) => {
    const consumer = { queue: "q", [key]: value };
    expect(diagnosticsOf(() => readConsumer(consumer))).toMatchObject([
      {
        key: `queues.consumers[0].${key}`,
        text:
          `"queues.consumers[0]" should, optionally, have a ${type} "${key}" field but got ` +
          `${JSON.stringify(consumer)}.`,
      },
    ]);
  });
});

test("unknown keys of a consumer are warned of and the consumer is used", () => {
  const config = readToml(`name = "w"
[[queues.consumers]]
queue = "q"
max_batch = 5
retries = 1`);
  expect(config.consumers).toHaveLength(1);
  expect(config.warnings).toMatchObject([{ line: 4, key: "queues.consumers[0].max_batch" }]);
  expect(warningsOf(config)).toEqual([
    `Unexpected fields found in queues.consumers[0] field: "max_batch","retries"`,
  ]);
});
