import { describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { consumerSchema, issueText, queueName, queueSettingsSchema, unreadableRecord } from "./index.ts";

const shared = { maxRetries: 3, retryDelaySeconds: 0, deadLetterQueue: null };
const worker = { ...shared, maxBatchSize: 10, maxBatchTimeoutSeconds: 0.5, maxConcurrency: null };
const push = {
  ...shared,
  url: "https://shop.example/",
  format: "sluice",
  contentType: null,
  maxConcurrency: 1,
  connectTimeoutSeconds: 5,
  responseTimeoutSeconds: 60,
  readinessPath: null,
};
const consumers = {
  worker: (changes: object) => ({ type: "worker", worker: "shop", settings: { ...worker, ...changes } }),
  http_pull: (changes: object) => ({
    type: "http_pull",
    settings: { ...shared, maxBatchSize: 5, visibilityTimeoutMs: 0, ...changes },
  }),
  http_push: (changes: object) => ({ type: "http_push", settings: { ...push, ...changes } }),
};

describe("a consumer of a backup", () => {
  it.each([
    ["worker", "maxBatchSize", 1, 100],
    ["worker", "maxBatchTimeoutSeconds", 0, 60],
    ["worker", "maxConcurrency", 1, 250],
    ["worker", "maxRetries", 0, 100],
    ["worker", "retryDelaySeconds", 0, 86_400],
    ["http_pull", "maxBatchSize", 1, 100],
    ["http_pull", "visibilityTimeoutMs", 0, 43_200_000],
    ["http_push", "maxConcurrency", 1, 100],
    ["http_push", "connectTimeoutSeconds", 1, 60],
    ["http_push", "responseTimeoutSeconds", 1, 36_000],
  ] as const)("%s has %s from %i to %i", (type, key, min, max) => {
    const takes = (value: number) => consumerSchema.safeParse(consumers[type]({ [key]: value })).success;
    expect([min - 1, min, max, max + 1].map(takes)).toEqual([false, true, true, false]);
  });

  it.each([
    ["http_push", { url: "https://me:secret@shop.example/" }, "settings.url"],
    ["http_push", { url: "file:///etc/passwd" }, "settings.url"],
    ["http_push", { headers: { "a b": "c" } }, "settings.headers.a b"],
    ["http_push", { headers: { a: "b\r\nc: d" } }, "settings.headers.a"],
    ["http_push", { headers: { a: 7 } }, "settings.headers.a"],
    ["http_push", { headers: { a: "b", Host: "c" } }, "settings.headers.Host: is a header that the broker"],
    ["http_push", { signingSecret: "a key" }, "settings.signingSecret"],
    ["http_push", { readinessPath: "ready" }, "settings.readinessPath"],
    ["worker", { deadLetterQueue: "../../x" }, "settings.deadLetterQueue"],
    ["worker", { retryPolicy: { kind: "fixed", delaySeconds: "1", jitter: "none" } }, "settings.retryPolicy"],
    ["worker", { isOdd: true }, "settings"],
  ] as const)("%s is refused with %j, by its key", (type, changes, key) => {
    const [issue] = consumerSchema.safeParse(consumers[type](changes)).error?.issues ?? [];
    expect(issue && issueText(issue)).toMatch(new RegExp(`^${key.replaceAll(".", "\\.")}`));
  });

  it.each([7, null, "worker", {}, { type: "ftp", settings: {} }, { type: "worker" }])(
    "is not %j",
    (value) => {
      expect(consumerSchema.safeParse(value).success).toBe(false);
    },
  );
});

describe("settings of a queue of a backup", () => {
  const settings = { deliveryDelaySeconds: 0, messageRetentionSeconds: 60 };

  it.each([
    ["deliveryDelaySeconds", [-1, 0, 86_400, 86_401]],
    ["messageRetentionSeconds", [59, 60, 1_209_600, 1_209_601]],
    ["maxReceivesPerSecond", [0, 1, 100_000, 100_001]],
    ["historySeconds", [59, 60, 1_209_600, 1_209_601]],
    ["historySeconds", [-1, 0, 60, 1.5]],
    ["finishedMessages", [-1, 0, 1_000, 1_001]],
  ])("%s has a range", (key, values) => {
    const takes = (value: number) => queueSettingsSchema.safeParse({ ...settings, [key]: value }).success;
    expect(values.map(takes)).toEqual([false, true, true, false]);
  });

  it("settings of a queue of a backup are no consumer and no producers", () => {
    expect(queueSettingsSchema.safeParse(settings).success).toBe(true);
    for (const key of ["consumer", "producers"]) {
      expect(queueSettingsSchema.safeParse({ ...settings, [key]: [] }).success).toBe(false);
    }
  });
});

it.each([
  ["orders", true],
  ["Orders_1.fifo", true],
  ["x".repeat(80), true],
  ["x".repeat(81), false],
  ["arn:aws:sqs:eu-west-1:123456789012:orders", true],
  ["arn:aws:sqs:eu-west-1:12:orders", false],
  ["arn:aws:sqs:eu-west-1:123456789012:../x", false],
  ["", false],
  ["../../x", false],
  ["a\nb", false],
  ["a\n", false],
  ["\u001b[2J", false],
  ["<img>", false],
  ["subscription/1", false],
  [".fifo", false],
])("%j is the name of a queue: %s", (name, isName) => {
  expect(queueName.safeParse(name).success).toBe(isName);
});

describe("a stored record", () => {
  const record = {
    queueId: "1",
    name: "q",
    createdOnMs: 1,
    modifiedOnMs: 1,
    revision: 1,
    emptyAsOf: 0,
    consumer: null,
    jurisdiction: null,
    dialects: {},
    definition: { deliveryDelaySeconds: 0, messageRetentionSeconds: 60, producers: [], consumer: null },
  };
  const withConsumer = (consumer: unknown) => ({ ...record, definition: { ...record.definition, consumer } });

  it("can be read as it is, and with what another version allows", () => {
    expect(unreadableRecord(record)).toBeNull();
    expect(unreadableRecord({ ...withConsumer(consumers.worker({ maxRetries: 101 })), isNew: 1 })).toBeNull();
    const ftp = { ...consumers.http_push({ url: "ftp://x" }) };
    expect(unreadableRecord(withConsumer(ftp))).toBeNull();
  });

  it.each([
    [withConsumer(7), /^definition\.consumer/],
    [withConsumer({ type: "worker", worker: "w" }), /^definition\.consumer\.settings/],
    [{ ...record, definition: undefined }, /^definition/],
    [{ ...record, revision: "7" }, /^revision/],
    [null, /./],
    [[], /./],
  ])("cannot be read as %j, and says which key is to blame", (value, why) => {
    expect(unreadableRecord(value)).toMatch(why);
  });
});

it.each([
  [z.object({ a: z.int() }), { a: 1.5 }, "a: must be a whole number"],
  [z.object({ a: z.number() }), {}, "a: must be a number"],
  [z.object({ a: z.array(z.string()) }), { a: [1] }, "a.0: must be a text"],
  [z.object({ a: z.int().check(z.lte(5)) }), { a: 6 }, "a: must be at most 5"],
  [z.object({ a: z.int().check(z.gte(5)) }), { a: 4 }, "a: must be at least 5"],
  [z.object({ a: z.string().check(z.maxLength(2)) }), { a: "abc" }, "a: must be at most 2 long"],
  [z.object({ a: z.enum(["x", "y"]) }), { a: "z" }, 'a: must be one of "x", "y"'],
  [z.strictObject({}), { b: 1 }, 'has no "b"'],
  [
    z.object({ a: z.string().check(z.refine(() => false, "must be a time")) }),
    { a: "" },
    "a: must be a time",
  ],
])("an issue says in words what is wrong (%#)", (schema: z.ZodMiniType, value, text) => {
  const [issue] = schema.safeParse(value).error?.issues ?? [];
  expect(issue && issueText(issue)).toBe(text);
});
