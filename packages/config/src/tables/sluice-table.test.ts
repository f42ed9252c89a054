import { describe, expect, test } from "vitest";
import { diagnosticsOf, errorsOf, readJson, readToml } from "../../test/project.ts";

describe("[sluice.queues.NAME]", () => {
  test("sets what belongs to a queue and to no Worker", () => {
    const config = readToml(`name = "w"
[sluice.queues.orders]
delivery_delay = 5
message_retention_period = 3600
[sluice.queues.constructor]
[sluice.queues]
letters.delivery_delay = 0`);
    expect(config.queueSettings).toEqual({
      orders: { deliveryDelaySeconds: 5, messageRetentionSeconds: 3600 },
      constructor: {},
      letters: { deliveryDelaySeconds: 0 },
    });
    expect(config.warnings).toEqual([]);
  });

  test.each([
    ["delivery_delay", "deliveryDelaySeconds", 0, 86_400],
    ["message_retention_period", "messageRetentionSeconds", 60, 1_209_600],
    // conformance: retention
  ] as const)("%s has a range", (key, setting, min, max) => {
    const toml = (value: number) => `name = "w"\n[sluice.queues.q]\n# seconds\n${key} = ${value}`;
    for (const value of [min, min + 1, max - 1, max]) {
      expect(readToml(toml(value)).queueSettings.q).toEqual({ [setting]: value });
    }
    for (const value of [min - 1, min + 0.5, max + 1]) {
      expect(diagnosticsOf(() => readToml(toml(value)))).toMatchObject([
        {
          severity: "error",
          line: 4,
          key: `sluice.queues.q.${key}`,
          text:
            `The field "sluice.queues.q.${key}" should be a whole number of seconds from ${min} to ${max} ` +
            `but got ${value}.`,
        },
      ]);
    }
  });

  test("must be called as a queue can be", () => {
    expect(diagnosticsOf(() => readToml(`name = "w"\n[sluice.queues.My_Queue]`))).toMatchObject([
      {
        line: 2,
        key: "sluice.queues.My_Queue",
        text: "Invalid queue name: invalid queue name: My_Queue. Must match ^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$",
      },
    ]);
    expect(errorsOf(() => readToml(`name = "w"\n[sluice.queues.__proto__]\nx = 1`))).toHaveLength(2);
  });

  test("holds in every environment", () => {
    const toml = `name = "w"\n[sluice.queues.q]\ndelivery_delay = 5\n[env.staging]`;
    expect(readToml(toml, "staging").queueSettings).toEqual({ q: { deliveryDelaySeconds: 5 } });
  });
});

describe("[sluice.queues.NAME.retry]", () => {
  test("is a retry policy", () => {
    const toml = `name = "w"
[sluice.queues.orders.retry]
policy = "exponential"
base = 2
max = 3600
jitter = "full"
[sluice.queues.mails]
retry = { policy = "sns", minDelayTarget = 1, maxDelayTarget = 60, numRetries = 10 }`;
    expect(readToml(toml).queueSettings).toEqual({
      orders: { retryPolicy: { kind: "exponential", base: 2, maxSeconds: 3600, jitter: "full" } },
      mails: {
        retryPolicy: {
          kind: "sns",
          minDelayTarget: 1,
          maxDelayTarget: 60,
          numRetries: 10,
          numMaxDelayRetries: 0,
          numNoDelayRetries: 0,
          numMinDelayRetries: 0,
          backoffFunction: "linear",
          jitter: "equal",
        },
      },
    });
  });

  test("is refused with every issue on its line", () => {
    const toml = `name = "w"\n[sluice.queues.q.retry]\npolicy = "exponential"\nbase = 0\nfactor = 2`;
    expect(diagnosticsOf(() => readToml(toml))).toMatchObject([
      {
        line: 5,
        key: "sluice.queues.q.retry.factor",
        text: `The field "sluice.queues.q.retry.factor" is no key of the policy "exponential".`,
      },
      {
        line: 4,
        key: "sluice.queues.q.retry.base",
        text: `The field "sluice.queues.q.retry.base" should be a number from 1 to 86400 but is 0.`,
      },
    ]);
    expect(errorsOf(() => readToml(`name = "w"\n[sluice.queues.q]\nretry = 5`))).toEqual([
      `The field "sluice.queues.q.retry" should be an object but got 5.`,
    ]);
    const long = `policy = "sns", minDelayTarget = 3600, maxDelayTarget = 3600, numRetries = 2`;
    expect(errorsOf(() => readToml(`name = "w"\n[sluice.queues.q]\nretry = { ${long} }`))).toEqual([
      `The field "sluice.queues.q.retry" must have delays of at most 3600 seconds in all, or unlimited = true.`,
    ]);
  });
});

describe("nothing in [sluice] passes in silence", () => {
  test("an unknown key of a queue is refused", () => {
    const toml = `name = "w"\n[sluice.queues.q]\ndelivery_delay = 5\nretention = 5\ndelay = 1`;
    expect(diagnosticsOf(() => readToml(toml))).toMatchObject([
      {
        severity: "error",
        line: 4,
        key: "sluice.queues.q.retention",
        text: `Unknown key "retention" in "sluice.queues.q".`,
      },
      {
        severity: "error",
        line: 5,
        key: "sluice.queues.q.delay",
        text: `Unknown key "delay" in "sluice.queues.q".`,
      },
    ]);
  });

  test("an unknown key of the table is refused", () => {
    expect(diagnosticsOf(() => readToml(`name = "w"\n[sluice.queue.q]\ndelivery_delay = 5`))).toMatchObject([
      {
        severity: "error",
        line: 2,
        key: "sluice.queue",
        text: `Unknown key "queue" in "sluice". Did you mean "queues"?`,
      },
    ]);
  });

  test.each([
    [
      "[sluice.queues.q]\nhistroy = true",
      `Unknown key "histroy" in "sluice.queues.q". Did you mean "history"?`,
    ],
    [
      '[sluice.queues.q]\nredrive = { dead_letter_qeue = "dead", max_receive_count = 1 }',
      `Unknown key "dead_letter_qeue" in "sluice.queues.q.redrive". Did you mean "dead_letter_queue"?`,
    ],
  ])("a key with a similar name is suggested: %s", (toml, text) => {
    expect(errorsOf(() => readToml(`name = "w"\n${toml}`))).toContain(text);
  });

  test.each([
    ["[sluice]", "sluice"],
    ["[sluice.queues.q]", "sluice.queues.q"],
    ["[sluice.queues.q.push]", "sluice.queues.q.push"],
  ])("a key of the Worker below %s is said to come before it", (table, field) => {
    expect(errorsOf(() => readToml(`${table}\nname = "w"\nmain = "a.ts"`))).toEqual(
      expect.arrayContaining(
        ["name", "main"].map(
          (key) =>
            `Unknown key "${key}" in "${field}". Keys of the Worker itself come before the first table.`,
        ),
      ),
    );
  });

  test("a key of the Worker in another format than TOML is out of place in nothing but its object", () => {
    expect(errorsOf(() => readJson({ name: "w", sluice: { main: "a.ts" } }))).toEqual([
      `Unknown key "main" in "sluice".`,
    ]);
  });

  test.each([
    [5, `The field "sluice" should be an object but got 5.`],
    [null, `The field "sluice" should be an object but got null.`],
    [{ queues: [] }, `The field "sluice.queues" should be an object but got [].`],
    [{ queues: { q: 5 } }, `The field "sluice.queues.q" should be an object but got 5.`],
    [
      { queues: { q: { delivery_delay: "5" } } },
      `The field "sluice.queues.q.delivery_delay" should be a number but got "5".`,
    ],
    [
      { queues: { q: { message_retention_period: null } } },
      `The field "sluice.queues.q.message_retention_period" should be a number but got null.`,
    ],
  ])("a value of another type is refused: %j", (sluice, text) => {
    expect(errorsOf(() => readJson({ name: "w", sluice }))).toEqual([text]);
  });

  test("a number that is none is refused", () => {
    expect(errorsOf(() => readToml(`name = "w"\n[sluice.queues.q]\ndelivery_delay = inf`))).toEqual([
      `The field "sluice.queues.q.delivery_delay" should be a number but got Infinity.`,
    ]);
  });

  test("a sluice table inside an environment is refused", () => {
    const toml = `name = "w"\n[env.staging.sluice.queues.q]\ndelivery_delay = 5`;
    expect(diagnosticsOf(() => readToml(toml, "staging"))).toMatchObject([
      { severity: "error", line: 2, key: "env.staging.sluice" },
    ]);
  });
});
