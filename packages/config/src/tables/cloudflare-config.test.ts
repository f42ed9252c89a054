import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { diagnosticsOf, project } from "../../test/project.ts";
import { buildTopology, formatDiagnostic, readCloudflareConfig } from "../index.ts";
import { inWordsOfCloudflareConfig } from "./cloudflare-words.ts";

/** Makes Wrangler's conversion of a configuration whose second trigger consumes a queue. */
function converted(consumer: object = {}, producer: object = {}) {
  return {
    root: {
      name: "shop",
      queues: {
        producers: [{ binding: "ORDERS", queue: "orders", ...producer }],
        consumers: [{ queue: "orders", ...consumer }],
      },
    },
    consumerTriggers: [1],
  };
}
function read(files: Record<string, string>, config = converted(), mode = "") {
  const folder = project(files);
  return { folder, read: () => readCloudflareConfig(join(folder, "cloudflare.config.ts"), config, mode) };
}

describe("a cloudflare.config.ts", () => {
  test("has the queues that Wrangler converts, and the mode as its environment", () => {
    const { folder, read: config } = read({}, converted({ max_retries: 7 }), "staging");
    expect(config()).toMatchObject({
      file: join(folder, "cloudflare.config.ts"),
      directory: folder,
      workerName: "shop",
      env: "staging",
      producers: [{ binding: "ORDERS", queue: "orders" }],
      consumers: [{ queue: "orders", type: "worker", settings: { maxRetries: 7, maxBatchSize: 10 } }],
      queueSettings: {},
      warnings: [],
    });
  });

  test("is named after nothing else in a mode, and has no environment without one", () => {
    expect(read({}).read()).toMatchObject({ workerName: "shop", env: null });
  });

  test("has the [sluice] table of the Wrangler configuration beside it, with its lines", () => {
    const toml = '[sluice]\nbroker = "mine"\n[sluice.queues.orders]\nmessage_retention_period = 60\n';
    const { folder, read: config } = read({ "wrangler.toml": toml });
    expect(config()).toMatchObject({
      broker: "mine",
      queueSettings: { orders: { messageRetentionSeconds: 60 } },
      settingsFile: join(folder, "wrangler.toml"),
      lines: { broker: 2, queueSettings: { orders: 3 } },
    });
  });

  test("has the mistakes of that table where they are", () => {
    const { folder, read: config } = read({ "wrangler.toml": "[sluice.queues.orders]\nretention = 60\n" });
    expect(diagnosticsOf(config)).toMatchObject([
      { file: join(folder, "wrangler.toml"), line: 2, severity: "error" },
    ]);
  });

  test("has a mistake for each key beside that table where the file is no Worker's", () => {
    const toml = '[sluice]\nbroker = "mine"\n\n[slice.queues.orders]\ndelivery_delay = 1\n';
    const { folder, read: config } = read({ "wrangler.toml": toml });
    expect(diagnosticsOf(config)).toEqual([
      {
        file: join(folder, "wrangler.toml"),
        line: 4,
        key: "slice",
        severity: "error",
        text:
          'Unexpected field "slice": beside a cloudflare.config.ts this file holds a [sluice] table and nothing else, ' +
          "or a Worker with a name.",
      },
    ]);
  });

  test("is read in spite of a Worker in that file", () => {
    const toml =
      'name = "other"\n[[queues.consumers]]\nqueue = "others"\n[sluice.queues.orders]\nfinished = 3\n';
    expect(read({ "wrangler.toml": toml }).read()).toMatchObject({
      workerName: "shop",
      consumers: [{ queue: "orders" }],
      queueSettings: { orders: { finishedMessages: 3 } },
    });
  });

  test.each([
    [{ max_retries: 101 }, {}, "worker.triggers[1].maxRetries"],
    [{ queue: "bad name" }, {}, "worker.triggers[1].name"],
    [{ dead_letter_queue: "bad name" }, {}, "worker.triggers[1].deadLetterQueue"],
    [{ max_batch_size: 0 }, {}, "worker.triggers[1].maxBatchSize"],
    [{}, { queue: "bad name" }, "worker.env.ORDERS.name"],
  ])("has the mistake of %j %j at its own key", (consumer, producer, key) => {
    const { folder, read: config } = read({}, converted(consumer, producer));
    const [diagnostic, ...others] = diagnosticsOf(config).filter(({ severity }) => severity === "error");
    expect(others).toEqual([]);
    expect(diagnostic).toMatchObject({ key });
    const line = diagnostic === undefined ? "" : formatDiagnostic(diagnostic);
    expect(line.startsWith(`${join(folder, "cloudflare.config.ts")}: `)).toBe(true);
    expect(line).toContain(key);
  });

  test("may disagree with another Worker about a queue, and both places are named", () => {
    const tables = (seconds: number) => `[sluice.queues.orders]\nmessage_retention_period = ${seconds}\n`;
    const [one, other] = [60, 61].map((seconds, i) => {
      const { root, consumerTriggers } = converted();
      const alone = { name: `shop-${i}`, queues: { producers: root.queues.producers } };
      return read({ "wrangler.toml": tables(seconds) }, { root: alone as never, consumerTriggers }).read();
    });
    if (one === undefined || other === undefined) throw new Error("both are read");
    const [diagnostic] = diagnosticsOf(() => buildTopology([one, other]));
    expect(diagnostic).toMatchObject({ file: other.settingsFile, line: 1 });
    expect(diagnostic?.text).toContain(`${one.settingsFile}:1`);
  });
});

test.each([
  ["queues.consumers[0]", "worker.triggers[1]"],
  ['"queues.consumers[0].visibility_timeout_ms" and', '"worker.triggers[1].visibilityTimeoutMs" and'],
  ["queues.producers[0].delivery_delay", "worker.env.ORDERS.deliveryDelay"],
  ["other.queues_consumers[0]", "other.queues_consumers[0]"],
])("%s is called %s", (text, expected) => {
  expect(inWordsOfCloudflareConfig(text, converted())).toBe(expected);
});
