import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { diagnosticsOf, errorsOf, project, readToml, warningsOf } from "../../test/project.ts";
import { buildTopology, readWorkerConfig } from "../index.ts";

function push(lines: string): string {
  return `name = "w"\n[sluice.queues.orders.push]\nurl = "https://shop.example/tasks"\n${lines}`;
}

const DEFAULTS = {
  url: "https://shop.example/tasks",
  format: "sluice",
  contentType: null,
  maxConcurrency: 50,
  connectTimeoutSeconds: 5,
  responseTimeoutSeconds: 60,
  readinessPath: null,
  maxRetries: 3,
  retryDelaySeconds: 0,
  deadLetterQueue: null,
};

describe("[sluice.queues.NAME.push]", () => {
  test("is an HTTP endpoint with defaults", () => {
    expect(readToml(push("")).queueSettings.orders?.push).toEqual(DEFAULTS);
  });

  test("says how requests are made", () => {
    const toml = push(`content_type = "application/xml"
signing_secret = "ORDERS_KEY"
max_concurrency = 2
connect_timeout = 1
response_timeout = 840
readiness_path = "/ready"
max_retries = 0
retry_delay = 30
dead_letter_queue = "dead"
headers = { authorization = "$ORDERS_TOKEN", x-shop = "a b" }`);
    expect(readToml(toml).queueSettings.orders?.push).toEqual({
      ...DEFAULTS,
      contentType: "application/xml",
      signingSecret: "ORDERS_KEY",
      maxConcurrency: 2,
      connectTimeoutSeconds: 1,
      responseTimeoutSeconds: 840,
      readinessPath: "/ready",
      maxRetries: 0,
      retryDelaySeconds: 30,
      deadLetterQueue: "dead",
      headers: { authorization: "$ORDERS_TOKEN", "x-shop": "a b" },
    });
  });

  test.each([
    ["max_concurrency", 0, 1, 100, 101, "requests"],
    ["connect_timeout", 0, 1, 60, 61, "seconds"],
    ["response_timeout", 0, 1, 840, 841, "seconds"],
    ["max_retries", -1, 0, 100, 101, "retries"],
    ["retry_delay", -1, 0, 86_400, 86_401, "seconds"],
  ])("%s has a range", (key, below, min, max, above, unit) => {
    for (const value of [min, max]) {
      expect(readToml(push(`${key} = ${value}`)).queueSettings.orders?.push).toBeDefined();
    }
    for (const value of [below, above]) {
      expect(errorsOf(() => readToml(push(`${key} = ${value}`)))).toEqual([
        `The field "sluice.queues.orders.push.${key}" should be a whole number of ${unit} from ${min} ` +
          `to ${max} but got ${value}.`,
      ]);
    }
  });

  test.each([
    ["signing_secret", 'signing_secret = "SLUICE_API_TOKENS"', "SLUICE_API_TOKENS"],
    ["headers", 'headers = { a = "b", x-key = "$SLUICE_AWS_ACCESS_KEYS" }', "SLUICE_AWS_ACCESS_KEYS"],
  ])("%s cannot name a setting of the broker's own", (key, toml, name) => {
    expect(errorsOf(() => readToml(push(toml)))).toEqual([
      `The field "sluice.queues.orders.push.${key}" names ${name}: no endpoint is called with the broker's own ` +
        "settings, whose names begin with SLUICE_.",
    ]);
  });

  test("needs a URL that requests can go to", () => {
    const field = `The field "sluice.queues.q.push.url"`;
    const errors = (url: string) =>
      errorsOf(() => readToml(`name = "w"\n[sluice.queues.q]\npush = { url = "${url}" }`));
    for (const url of ["", "/tasks", "ftp://shop.example/", "mailto:a@b"]) {
      expect(errors(url)).toEqual([`${field} should be an http: or https: URL.`]);
    }
    const [secret] = errors("https://me:secret@shop.example/");
    expect(secret).toContain("should have no user and password in it");
    expect(secret).not.toContain("me:secret");
    expect(errorsOf(() => readToml(`name = "w"\n[sluice.queues.q]\npush = {}`))).toEqual([
      `${field} should be a string but got undefined.`,
    ]);
  });

  test.each([
    [`signing_secret = "not a name"`, "signing_secret", "should be the name of an environment variable"],
    [`readiness_path = "ready"`, "readiness_path", `should begin with "/"`],
    [`headers = { "x y" = "1" }`, "headers.x y", "is no header"],
    [`headers = { x = 1 }`, "headers.x", "is no header"],
    [`headers = { x = "a\\nb" }`, "headers.x", "is no header"],
    [`headers = 5`, "headers", "should be an object"],
    [
      `headers = { Host = "x.example" }`,
      "headers.Host",
      "is a header that the broker or its connection sets",
    ],
    [`headers = { sluice-queue = "q" }`, "headers.sluice-queue", "is a header that the broker"],
    [`timeout = 5`, "timeout", `Unknown key "timeout"`],
    [`dead_letter_queue = "Not A Queue"`, "dead_letter_queue", "Invalid queue name"],
  ])("refuses %s", (line, key, text) => {
    const [issue, ...others] = diagnosticsOf(() => readToml(push(line)));
    expect(others).toEqual([]);
    expect(issue).toMatchObject({ key: `sluice.queues.orders.push.${key}`, line: 4 });
    expect(issue?.text).toContain(text);
  });

  test("is the queue's consumer, with its retry policy and its dead-letter queue", () => {
    const toml = `${push(`dead_letter_queue = "dead"`)}
[sluice.queues.orders]
max_receives_per_second = 10
retry = { policy = "sns", minDelayTarget = 1, maxDelayTarget = 60, numRetries = 10 }`;
    const { queues } = buildTopology([readToml(toml)]);
    expect(queues.orders).toMatchObject({
      maxReceivesPerSecond: 10,
      consumer: { type: "http_push", settings: { maxRetries: 10, retryPolicy: { kind: "sns" } } },
    });
    expect(queues.dead).toMatchObject({ consumer: null });
    expect(queues.dead).not.toHaveProperty("maxReceivesPerSecond");
  });

  test("has no other consumer beside it", () => {
    const toml = `${push("")}\n[[queues.consumers]]\nqueue = "orders"`;
    expect(errorsOf(() => buildTopology([readToml(toml)]))).toEqual([
      expect.stringContaining(`Multiple consumers defined for queue "orders": "w" and its [push] table`),
    ]);
  });

  test("may not send its dead letters in a circle", () => {
    expect(errorsOf(() => buildTopology([readToml(push(`dead_letter_queue = "orders"`))]))).toEqual([
      `Dead letter queue for queue "orders" cannot be itself`,
    ]);
  });
});

test.each([
  [0, 1],
  [100_001, 100_000],
])("max_receives_per_second has a range: %i is not in it, %i is", (outside, inside) => {
  const toml = (value: number) => `name = "w"\n[sluice.queues.q]\nmax_receives_per_second = ${value}`;
  expect(readToml(toml(inside)).queueSettings.q?.maxReceivesPerSecond).toBe(inside);
  expect(errorsOf(() => readToml(toml(outside)))).toEqual([
    `The field "sluice.queues.q.max_receives_per_second" should be a whole number of messages from 1 ` +
      `to 100000 but got ${outside}.`,
  ]);
});

describe(`format = "sqsd"`, () => {
  const daemon = (lines: string) => push(`format = "sqsd"\n${lines}`);

  test("has the worker daemon's defaults", () => {
    expect(readToml(daemon("")).queueSettings.orders?.push).toEqual({
      ...DEFAULTS,
      format: "sqsd",
      contentType: "application/json",
      responseTimeoutSeconds: 299,
      maxRetries: 9,
      daemon: {
        visibilityTimeoutSeconds: 300,
        errorVisibilityTimeoutSeconds: null,
        retentionSeconds: 345_600,
      },
    });
  });

  test("is set by Elastic Beanstalk's options", () => {
    const toml = daemon(`dead_letter_queue = "dead"
[sluice.queues.orders.push.options]
HttpPath = "/jobs"
MimeType = "text/plain"
HttpConnections = 4
ConnectTimeout = 2
InactivityTimeout = 50
VisibilityTimeout = 60
ErrorVisibilityTimeout = 2
RetentionPeriod = 600
MaxRetries = 5`);
    expect(readToml(toml).queueSettings.orders?.push).toEqual({
      url: "https://shop.example/jobs",
      format: "sqsd",
      contentType: "text/plain",
      maxConcurrency: 4,
      connectTimeoutSeconds: 2,
      responseTimeoutSeconds: 50,
      readinessPath: null,
      maxRetries: 4,
      retryDelaySeconds: 0,
      deadLetterQueue: "dead",
      daemon: { visibilityTimeoutSeconds: 60, errorVisibilityTimeoutSeconds: 2, retentionSeconds: 600 },
    });
  });

  test("warns of what AWS takes as well", () => {
    const config = readToml(daemon(`options = { InactivityTimeout = 300, MaxRetries = 5 }`));
    expect(warningsOf(config)).toEqual([
      expect.stringContaining("InactivityTimeout"),
      expect.stringContaining("has no effect without a dead-letter queue"),
    ]);
  });

  test.each([
    [`options = { HttpConnections = 101 }`, "options.HttpConnections", "from 1 to 100"],
    [`options = { Timeout = 1 }`, "options.Timeout", "is no option of the worker daemon"],
    [`options = 5`, "options", "should be an object"],
    [`max_retries = 5`, "max_retries", `stand in "options"`],
    [`content_type = "text/plain"`, "content_type", `stand in "options"`],
  ])("refuses %s", (line, key, text) => {
    const [issue, ...others] = diagnosticsOf(() => readToml(daemon(line)));
    expect(others).toEqual([]);
    expect(issue).toMatchObject({ key: `sluice.queues.orders.push.${key}` });
    expect(issue?.text).toContain(text);
  });

  test("has the tasks of a cron.yaml, by its path from the configuration", () => {
    const folder = project({
      "app/wrangler.toml": daemon(`cron = "../cron.yaml"`),
      "cron.yaml": `version: 1\ncron:\n  - { name: nightly, url: /nightly, schedule: "0 23 * * *" }\n`,
    });
    const { queueSettings } = readWorkerConfig(join(folder, "app/wrangler.toml"));
    expect(queueSettings.orders?.push?.daemon?.periodicTasks).toEqual([
      { name: "nightly", url: "/nightly", schedule: "0 23 * * *" },
    ]);
  });

  test("can take days and the attributes of others as AWS does", () => {
    const folder = project({
      "wrangler.toml": daemon(`cron = "cron.yaml"\ncron_days = "and"\ntrust_task_attributes = true`),
      "cron.yaml": `version: 1\ncron:\n  - { name: a, url: /a, schedule: "0 0 13 * 5" }\n`,
    });
    const { queueSettings } = readWorkerConfig(join(folder, "wrangler.toml"));
    expect(queueSettings.orders?.push?.daemon).toMatchObject({
      trustsTaskAttributes: true,
      periodicTasks: [{ name: "a", url: "/a", schedule: "0 0 13 * 5", days: "and" }],
    });
    expect(errorsOf(() => readToml(daemon(`cron_days = "both"`)))).toEqual([
      `The field "sluice.queues.orders.push.cron_days" should be "or" or "and" but got "both".`,
    ]);
  });

  test("says which runs of its tasks are made", () => {
    const read = (lines: string) => {
      const folder = project({
        "wrangler.toml": daemon(`cron = "cron.yaml"\n${lines}`),
        "cron.yaml": "version: 1\ncron: []\n",
      });
      return readWorkerConfig(join(folder, "wrangler.toml"));
    };
    const taskRuns = (lines: string) => read(lines).queueSettings.orders?.push?.daemon?.taskRuns;
    expect(taskRuns("")).toBeUndefined();
    expect(taskRuns(`cron_catch_up = "all"\ncron_catch_up_window = 604800\ncron_overlap = "skip"`)).toEqual({
      catchUp: "all",
      catchUpSeconds: 604_800,
      overlap: "skip",
    });
    expect(taskRuns("cron_catch_up_window = 1")).toEqual({ catchUpSeconds: 1 });
    const field = "sluice.queues.orders.push";
    for (const seconds of [0, 604_801, 1.5]) {
      expect(errorsOf(() => read(`cron_catch_up_window = ${seconds}`))).toEqual([
        `The field "${field}.cron_catch_up_window" should be a whole number of seconds from 1 to 604800 ` +
          `but got ${seconds}.`,
      ]);
    }
    expect(errorsOf(() => read(`cron_catch_up = "none"\ncron_catch_up_window = 60`))).toEqual([
      `The field "${field}.cron_catch_up_window" has no effect with cron_catch_up = "none": nothing is made up for.`,
    ]);
    expect(errorsOf(() => readToml(daemon(`cron_catch_up = "some"\ncron_overlap = "queue"`)))).toEqual([
      `The field "${field}.cron_catch_up" should be "one", "all" or "none" but got "some".`,
      `The field "${field}.cron_overlap" should be "allow" or "skip" but got "queue".`,
    ]);
    expect(errorsOf(() => readToml(daemon(`cron_overlap = "skip"`)))).toEqual([
      `The field "${field}.cron_overlap" needs "cron", the file with the tasks.`,
    ]);
    expect(errorsOf(() => readToml(push(`cron_overlap = "skip"`)))).toEqual([
      `The field "${field}.cron_overlap" needs format = "sqsd".`,
    ]);
  });

  test("is warned of a sixth field in its cron.yaml", () => {
    const folder = project({
      "wrangler.toml": daemon(`cron = "cron.yaml"`),
      "cron.yaml": `version: 1\ncron:\n  - { name: a, url: /a, schedule: "0 5 * * * *" }\n`,
    });
    expect(warningsOf(readWorkerConfig(join(folder, "wrangler.toml")))).toEqual([
      expect.stringContaining('cron.yaml: the sixth field of "schedule" of task "a" is ignored'),
    ]);
  });

  test("is told what is wrong with its cron.yaml", () => {
    expect(errorsOf(() => readToml(daemon(`cron = "nowhere.yaml"`)))).toEqual([
      expect.stringContaining("names a file that cannot be read"),
    ]);
    const folder = project({ "wrangler.toml": daemon(`cron = "cron.yaml"`), "cron.yaml": "version: 2" });
    const read = () => readWorkerConfig(join(folder, "wrangler.toml"));
    expect(errorsOf(read)).toEqual([expect.stringContaining("version 2 is not known")]);
    expect(errorsOf(() => readToml(push(`cron = "cron.yaml"`)))).toEqual([
      `The field "sluice.queues.orders.push.cron" needs format = "sqsd".`,
    ]);
  });

  test("is needed for options", () => {
    expect(errorsOf(() => readToml(push(`options = { MaxRetries = 5 }`)))).toEqual([
      `The field "sluice.queues.orders.push.options" needs format = "sqsd".`,
    ]);
    expect(errorsOf(() => readToml(push(`format = "sns"`)))).toEqual([
      `The field "sluice.queues.orders.push.format" should be "sluice" or "sqsd" but got "sns".`,
    ]);
  });
});
