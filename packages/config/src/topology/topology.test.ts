import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { diagnosticsOf, project } from "../../test/project.ts";
import { buildTopology, readWorkerConfig, type WorkerQueueConfig } from "../index.ts";

/** Reads one Worker per text, each in a folder of its own. */
function workers(...texts: string[]): WorkerQueueConfig[] {
  const folder = project(Object.fromEntries(texts.map((text, i) => [`${i}/wrangler.toml`, text])));
  return texts.map((_, i) => readWorkerConfig(join(folder, String(i), "wrangler.toml")));
}

function consumer(queue: string, deadLetterQueue?: string): string {
  const dead = deadLetterQueue === undefined ? "" : `dead_letter_queue = "${deadLetterQueue}"\n`;
  return `[[queues.consumers]]\nqueue = "${queue}"\n${dead}`;
}

const DEFAULTS = { deliveryDelaySeconds: 0, messageRetentionSeconds: 345_600, producers: [], consumer: null };

describe("a queue that clients pull from", () => {
  const pulled = `[[queues.consumers]]\ntype = "http_pull"\nqueue = "q"\ndead_letter_queue = "dead"\n`;

  test("has a consumer that is no Worker, with the queue's retry policy", () => {
    const policy = `[sluice.queues.q.retry]\npolicy = "fixed"\ndelay = 5\n`;
    expect(buildTopology(workers(`name = "w"\n${pulled}${policy}`)).queues).toMatchObject({
      q: {
        consumer: {
          type: "http_pull",
          settings: {
            maxBatchSize: 5,
            visibilityTimeoutMs: 30_000,
            deadLetterQueue: "dead",
            retryPolicy: {},
          },
        },
      },
      dead: DEFAULTS,
    });
  });

  test("has no other consumer", () => {
    const texts = [`name = "a"\n${pulled}`, `name = "b"\n${consumer("q")}`];
    for (const order of [texts, texts.toReversed()]) {
      expect(diagnosticsOf(() => buildTopology(workers(...order)))).toMatchObject([
        { text: expect.stringContaining('Multiple consumers defined for queue "q"') },
      ]);
    }
  });
});

describe("the topology of several Workers", () => {
  test("has each queue with its producers, its consumer and its settings", () => {
    const topology = buildTopology(
      workers(
        `name = "api"
[[queues.producers]]
binding = "ORDERS"
queue = "orders"
delivery_delay = 30
[[queues.producers]]
binding = "ALSO"
queue = "orders"`,
        `name = "worker"
[[queues.consumers]]
queue = "orders"
max_batch_size = 50
dead_letter_queue = "orders-dead"
[[queues.producers]]
binding = "ORDERS"
queue = "orders"`,
        `name = "broker"
[sluice.queues.orders]
delivery_delay = 5
[sluice.queues.pulled]
message_retention_period = 60`,
      ),
    );
    expect(topology).toEqual({
      queues: {
        orders: {
          deliveryDelaySeconds: 5,
          messageRetentionSeconds: 345_600,
          producers: [
            { worker: "api", binding: "ALSO" },
            { worker: "api", binding: "ORDERS" },
            { worker: "worker", binding: "ORDERS" },
          ],
          consumer: {
            type: "worker",
            worker: "worker",
            settings: {
              maxBatchSize: 50,
              maxBatchTimeoutSeconds: 5,
              maxRetries: 3,
              maxConcurrency: null,
              retryDelaySeconds: 0,
              deadLetterQueue: "orders-dead",
            },
          },
        },
        "orders-dead": DEFAULTS,
        pulled: { ...DEFAULTS, messageRetentionSeconds: 60 },
      },
    });
  });

  test("has no queues without Workers", () => {
    expect(buildTopology([])).toEqual({ queues: {} });
  });

  test("has a queue called constructor only if there is one", () => {
    const name: string = "constructor";
    expect(buildTopology([]).queues[name]).toBeUndefined();
    const { queues } = buildTopology(workers(`name = "w"\n${consumer(name)}`));
    expect(queues[name]?.consumer).toMatchObject({ worker: "w" });
  });

  test("is plain data", () => {
    const topology = buildTopology(workers(`name = "w"\n${consumer("a", "b")}`));
    expect(JSON.parse(JSON.stringify(topology))).toEqual(topology);
    expect(structuredClone(topology)).toEqual(topology);
  });

  test("is the same in whatever order the Workers come", () => {
    const all = workers(
      `name = "c"\n${consumer("z", "y")}[[queues.producers]]\nbinding = "B"\nqueue = "q"`,
      `name = "a"\n${consumer("y")}[[queues.producers]]\nbinding = "B"\nqueue = ` +
        `"q"\n[sluice.queues.q]\ndelivery_delay = 1`,
      `name = "b"\n${consumer("q", "z")}[sluice.queues.q]\nmessage_retention_period = 60`,
    );
    const expected = JSON.stringify(buildTopology(all));
    fc.assert(
      fc.property(fc.shuffledSubarray(all, { minLength: all.length }), (shuffled) => {
        expect(JSON.stringify(buildTopology(shuffled))).toBe(expected);
      }),
    );
  });
});

// conformance: one-consumer
describe("two consumers of one queue are refused", () => {
  test("two consumers of one queue are refused in two Workers, with both places", () => {
    const [a, b] = workers(`name = "a"\n${consumer("x")}`, `name = "b"\n\n${consumer("y")}${consumer("x")}`);
    expect(diagnosticsOf(() => buildTopology([a, b].flatMap((worker) => worker ?? [])))).toEqual([
      {
        severity: "error",
        file: b?.file,
        line: 5,
        text: `Multiple consumers defined for queue "x": "a" and "b" (${a?.file}:2 and ${b?.file}:5)`,
      },
    ]);
  });

  test("two consumers of one queue are refused in one Worker", () => {
    const [diagnostic] = diagnosticsOf(() =>
      buildTopology(workers(`name = "a"\n${consumer("x")}${consumer("x")}`)),
    );
    expect(diagnostic?.text).toMatch(
      /^Multiple consumers defined for queue "x": "a" lists it twice \(.*:2 and .*:4\)$/,
    );
  });

  test("two consumers of one queue are refused also where the lines are unknown", () => {
    const [a, b] = workers(`name = "a"\n${consumer("x")}`, `name = "b"\n${consumer("x")}`).map(
      ({ lines: _, ...worker }) => worker,
    );
    const [diagnostic] = diagnosticsOf(() => buildTopology([a, b].flatMap((worker) => worker ?? [])));
    expect(diagnostic).toEqual({
      severity: "error",
      file: b?.file,
      text: `Multiple consumers defined for queue "x": "a" and "b" (${a?.file} and ${b?.file})`,
    });
  });
});

describe("dead letters that would come back are refused", () => {
  // conformance: dead-letters-to-itself
  test("dead letters that would come back are refused to the queue itself", () => {
    expect(diagnosticsOf(() => buildTopology(workers(`name = "a"\n${consumer("x", "x")}`)))).toMatchObject([
      { line: 2, text: 'Dead letter queue for queue "x" cannot be itself' },
    ]);
  });

  test("dead letters that would come back are refused through other Workers' queues, naming the whole circle", () => {
    const refusal = diagnosticsOf(() =>
      buildTopology(
        workers(
          `name = "a"\n${consumer("in", "x")}`,
          `name = "b"\n${consumer("x", "y")}`,
          `name = "c"\n${consumer("y", "z")}${consumer("z", "x")}`,
        ),
      ),
    );
    expect(refusal).toMatchObject([
      { line: 2, text: 'Dead letters go in a circle: "x" -> "y" -> "z" -> "x"' },
    ]);
  });

  test("dead letters that would come back are refused a chain of dead-letter queues is none", () => {
    const { queues } = buildTopology(workers(`name = "a"\n${consumer("x", "y")}${consumer("y", "z")}`));
    expect(Object.keys(queues)).toEqual(["x", "y", "z"]);
  });
});

describe("one name for two Workers", () => {
  test("is refused", () => {
    const [a, b] = workers(`name = "a"`, `name = "a"\n${consumer("x")}`);
    expect(diagnosticsOf(() => buildTopology([a, b].flatMap((worker) => worker ?? [])))).toEqual([
      { severity: "error", file: b?.file, text: `Two Workers are called "a": ${a?.file} and ${b?.file}.` },
    ]);
  });

  test("is refused in one file too, when its environments share it", () => {
    const file = join(project({ "wrangler.toml": `name = "a"\n[env.b]\nname = "a"` }), "wrangler.toml");
    const both = [readWorkerConfig(file), readWorkerConfig(file, { env: "b" })];
    expect(diagnosticsOf(() => buildTopology(both))).toMatchObject([
      { file, text: `Two Workers are called "a": ${file} and ${file} with environment "b".` },
    ]);
  });

  test("is no matter when it is the same Worker twice", () => {
    const [worker] = workers(`name = "a"\n${consumer("x")}`);
    const twice = [worker, worker].flatMap((listed) => listed ?? []);
    expect(buildTopology(twice)).toEqual(buildTopology(twice.slice(1)));
  });
});

describe("settings of one queue in two files", () => {
  const settings = (name: string, toml: string) => `name = "${name}"\n\n[sluice.queues.q]\n${toml}`;

  test("settings of one queue in two files add up", () => {
    const { queues } = buildTopology(
      workers(
        settings("a", "delivery_delay = 5"),
        settings("b", "message_retention_period = 60\ndelivery_delay = 5"),
      ),
    );
    expect(queues.q).toEqual({ ...DEFAULTS, deliveryDelaySeconds: 5, messageRetentionSeconds: 60 });
  });

  test("settings of one queue in two files are the same whatever the order of their keys", () => {
    const push = (headers: string) => `push = { url = "https://a.example", headers = ${headers} }`;
    const { queues } = buildTopology(
      workers(
        settings("a", push('{ X-A = "1", X-B = "2" }')),
        settings("b", push('{ X-B = "2", X-A = "1" }')),
      ),
    );
    expect(queues.q?.consumer).toMatchObject({ type: "http_push" });
  });

  test.each([
    ["delivery_delay", 5, 0],
    ["message_retention_period", 60, 61],
  ])(
    "settings of one queue in two files are refused where their %s differs, with both places",
    (key, one, other) => {
      const [a, b, c] = workers(
        settings("a", `${key} = ${one}`),
        settings("b", `${key} = ${other}`),
        settings("c", `${key} = ${one}`),
      );
      expect(diagnosticsOf(() => buildTopology([a, b, c].flatMap((worker) => worker ?? [])))).toEqual([
        {
          severity: "error",
          file: b?.file,
          line: 3,
          text: `Queue "q" has two values of "${key}": ${one} (${a?.file}:3) and ${other} (${b?.file}:3)`,
        },
      ]);
    },
  );
});

test("everything that is wrong is reported at once", () => {
  const refusal = diagnosticsOf(() =>
    buildTopology(
      workers(
        `name = "a"\n${consumer("x", "x")}[sluice.queues.q]\ndelivery_delay = 1`,
        `name = "b"\n${consumer("x")}[sluice.queues.q]\ndelivery_delay = 2`,
        `name = "b"`,
      ),
    ),
  );
  expect(refusal).toHaveLength(4);
});

describe("a retry policy", () => {
  const table = (retry: string) => `[sluice.queues.orders]\nretry = { ${retry} }`;

  test("goes to its queue's consumer, whichever file it stands in", () => {
    const { queues } = buildTopology(
      workers(
        `name = "worker"\n${consumer("orders")}max_retries = 7\nretry_delay = 30`,
        `name = "broker"\n${table('policy = "fixed", delay = 5')}`,
      ),
    );
    expect(queues.orders?.consumer?.settings).toMatchObject({
      maxRetries: 7,
      retryDelaySeconds: 30,
      retryPolicy: { kind: "fixed", delaySeconds: 5, jitter: "none" },
    });
  });

  test("a retry policy of SNS's kind says how many retries there are", () => {
    const toml = `name = "worker"\n${consumer("orders")}max_retries = 7\n${table('policy = "sns-http-sample"')}`;
    expect(buildTopology(workers(toml)).queues.orders?.consumer?.settings.maxRetries).toBe(50);
  });

  test("may stand in two files when it is the same, and may not when it differs", () => {
    const read = (second: string) =>
      buildTopology(
        workers(
          `name = "a"\n${consumer("orders")}${table('policy = "fixed", delay = 5')}`,
          `name = "b"\n${table(second)}`,
        ),
      );
    expect(read('delay = 5, policy = "fixed"').queues.orders?.consumer?.settings.retryPolicy).toBeDefined();
    const refusal = diagnosticsOf(() => read('policy = "fixed", delay = 6'));
    for (const part of [
      /^Queue "orders" has two values of "retry": \{"kind":"fixed","delaySeconds":5,/,
      /"delaySeconds":5,.* and \{"kind":"fixed","delaySeconds":6,/,
    ]) {
      expect(refusal).toMatchObject([{ text: expect.stringMatching(part) }]);
    }
  });
});
