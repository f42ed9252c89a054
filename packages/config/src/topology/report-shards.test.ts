import { join } from "node:path";
import { SHARDS_MAX } from "@sluice/protocol";
import { describe, expect, test } from "vitest";
import { diagnosticsOf, project, readToml } from "../../test/project.ts";
import { buildTopology, readWorkerConfig } from "../index.ts";

/** Merges Workers, each with its text. */
function merged(...texts: string[]) {
  const folder = project(
    Object.fromEntries(texts.map((text, i) => [`${i}/wrangler.toml`, `name = "w${i}"\n${text}`])),
  );
  return buildTopology(texts.map((_, i) => readWorkerConfig(join(folder, String(i), "wrangler.toml"))));
}

const queue = (name: string, ...keys: string[]) => `[sluice.queues."${name}"]\n${keys.join("\n")}\n`;

describe("shards of a queue", () => {
  test.each([1, 2, SHARDS_MAX - 1, SHARDS_MAX])("can be %i", (shards) => {
    expect(merged(queue("orders", `shards = ${shards}`)).queues.orders).toMatchObject({ shards });
  });

  test.each([0, -1, 1.5, SHARDS_MAX + 1])("cannot be %d", (shards) => {
    expect(
      diagnosticsOf(() => readToml(`name = "w"\n${queue("orders", `shards = ${shards}`)}`)),
    ).toMatchObject([
      {
        line: 3,
        text: `The field "sluice.queues.orders.shards" should be a whole number of shards from 1 to 100 but got ${shards}.`,
      },
    ]);
  });

  test("are not named in the topology where the file names none", () => {
    expect(merged(queue("orders", "delivery_delay = 1")).queues.orders).not.toHaveProperty("shards");
  });

  test("are refused for a FIFO queue that deduplicates over all groups, in whichever file its scope stands", () => {
    const sharded = queue("orders.fifo", "shards = 4");
    expect(diagnosticsOf(() => merged(sharded))).toMatchObject([
      {
        severity: "error",
        line: 2,
        text: 'Queue "orders.fifo" can have only one shard: a FIFO queue with more needs deduplication_scope = "messageGroup"',
      },
    ]);
    const scope = queue("orders.fifo", 'deduplication_scope = "messageGroup"');
    expect(merged(sharded, scope).queues["orders.fifo"]).toMatchObject({ shards: 4 });
    expect(merged(queue("orders.fifo", "shards = 1")).queues["orders.fifo"]).toMatchObject({ shards: 1 });
  });

  test("are refused for a queue with a worker daemon", () => {
    const push = (format: string) => queue("orders", "shards = 2", `push = { ${format} }`);
    const sqsd = 'format = "sqsd", url = "http://localhost:8080"';
    expect(diagnosticsOf(() => merged(push(sqsd)))).toMatchObject([
      { text: 'Queue "orders" can have only one shard: it has a worker daemon' },
    ]);
    expect(merged(push('url = "https://shop.example/hook"')).queues.orders).toMatchObject({ shards: 2 });
  });
});
