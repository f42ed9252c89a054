import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { diagnosticsOf, project, readText, readToml } from "../../test/project.ts";
import { type Content, spellings } from "../../test/spellings.ts";
import { readWorkerConfig } from "../index.ts";

const queue = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/);
const delay = fc.integer({ min: 0, max: 86_400 });
const consumer = fc.record(
  {
    queue,
    type: fc.constant("worker"),
    max_batch_size: fc.integer({ min: 1, max: 100 }),
    max_batch_timeout: fc.integer({ min: 0, max: 600 }).map((tenths) => tenths / 10),
    max_retries: fc.integer({ min: 0, max: 100 }),
    dead_letter_queue: queue,
    max_concurrency: fc.integer({ min: 1, max: 250 }),
    retry_delay: delay,
  },
  { requiredKeys: ["queue"], noNullPrototype: true },
);
const producer = fc.record(
  { binding: fc.stringMatching(/^[A-Z_]{1,8}$/), queue, delivery_delay: delay, remote: fc.boolean() },
  { requiredKeys: ["binding"], noNullPrototype: true },
);
const queues = fc.record(
  {
    producers: fc.uniqueArray(producer, { maxLength: 3, selector: ({ binding }) => binding }),
    consumers: fc.array(consumer, { maxLength: 3 }),
  },
  { requiredKeys: [], noNullPrototype: true },
);
const settings = fc.record(
  { delivery_delay: delay, message_retention_period: fc.integer({ min: 60, max: 1_209_600 }) },
  { requiredKeys: [], noNullPrototype: true },
);
const environment = fc.record(
  { name: fc.constant("other"), queues },
  { requiredKeys: [], noNullPrototype: true },
);
const content: fc.Arbitrary<Content> = fc.record(
  {
    name: fc.constant("shop"),
    queues,
    env: fc.record({ staging: environment, "pre view": environment }, { noNullPrototype: true }),
    sluice: fc.record(
      { queues: fc.dictionary(queue, settings, { noNullPrototype: true }) },
      { noNullPrototype: true },
    ),
  },
  { requiredKeys: ["name", "env"], noNullPrototype: true },
);

// Six files are written and read per run, which takes its time on a machine that is busy with other suites.
const PROPERTY_TIMEOUT_MS = 60_000;

test(
  "the same content means the same in TOML, JSON and JSONC, however it is written",
  () => {
    fc.assert(
      fc.property(content, fc.constantFrom(undefined, "staging", "pre view"), (generated, env) => {
        const results = spellings(generated).map(([name, text]) => {
          const { file, directory, lines, warnings, ...result } = readText(name, text, env);
          expect(dirname(file)).toBe(directory);
          expect(lines?.consumers).toHaveLength(result.consumers.length);
          return {
            ...result,
            warnings: warnings.map(({ severity, key, text }) => ({ severity, key, text })),
          };
        });
        for (const result of results) expect(result).toEqual(results[0]);
      }),
    );
  },
  PROPERTY_TIMEOUT_MS,
);

test("what was read says where it came from", () => {
  const folder = project({ "app/wrangler.jsonc": `{ "name": "shop" }` });
  expect(readWorkerConfig(join(folder, "app", "wrangler.jsonc"))).toEqual({
    file: join(folder, "app", "wrangler.jsonc"),
    directory: join(folder, "app"),
    workerName: "shop",
    env: null,
    producers: [],
    consumers: [],
    queueSettings: {},
    warnings: [],
    lines: { consumers: [], queueSettings: {} },
  });
});

describe("a diagnostic names the line of its key", () => {
  const refusedLine = (name: string, text: string) => diagnosticsOf(() => readText(name, text))[0]?.line;

  test("a diagnostic names the line of its key in TOML", () => {
    const toml = `name = "w" # [[queues.consumers]]

[queues]
consumers = [
  { queue = "a", max_retries = 3 },
  { queue = "b",
    max_retries = 101 },
]`;
    expect(refusedLine("wrangler.toml", toml)).toBe(7);
    expect(
      refusedLine("wrangler.toml", `name = "w"\nqueues.consumers = [{ queue = "a", max_retries = 101 }]`),
    ).toBe(2);
  });

  test("a diagnostic names the line of its key in JSON", () => {
    const json = `{
  // "max_retries": 101
  "name": "w",
  "queues": { "consumers": [
    { "queue": "a", "max_retries": 3 },
    { "queue": "b",
      "max_retries": 101 },
  ] },
}`;
    expect(refusedLine("wrangler.json", json)).toBe(7);
    expect(refusedLine("wrangler.jsonc", json.replaceAll("\n", "\r\n"))).toBe(7);
  });

  test("a diagnostic names the line of its key or of the table that lacks it", () => {
    expect(refusedLine("wrangler.toml", `name = "w"\n\n[[queues.consumers]]\nmax_retries = 1`)).toBe(3);
    expect(refusedLine("wrangler.json", `{ "name": "w", "queues": {\n"consumers": [\n{} ] } }`)).toBe(3);
  });

  test("and the message of the error has it", () => {
    const toml = `name = "w"\n[[queues.consumers]]\nqueue = "q"\nmax_batch_size = 101`;
    const read = () => readToml(toml);
    expect(read).toThrow(/wrangler\.toml:4: The field "queues\.consumers\[0\]\.max_batch_size" should be /);
    expect(read).toThrow(/ should be a whole number of messages from 1 to 100 but got 101\.$/);
  });
});
