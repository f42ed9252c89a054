import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { BrokerLab } from "./broker-lab.ts";

/* Backups written or changed by a person: refusals before any damage, and continued imports. */

let lab: BrokerLab;
let url: string;

beforeEach(async () => {
  lab = new BrokerLab();
  url = await lab.serve();
});
afterEach(() => lab.close());

const HEADER = { sluice: "backup", version: 1, at: "", queues: [], topics: [] };
const settings = { deliveryDelaySeconds: 0, messageRetentionSeconds: 345_600 };

/** Makes the line of a queue with a pull consumer. */
function queue(name: string, deadLetterQueue: string | null = null) {
  const pull = { maxBatchSize: 5, visibilityTimeoutMs: 0, maxRetries: 3, retryDelaySeconds: 0 };
  const consumer = { type: "http_pull", settings: { ...pull, deadLetterQueue } };
  return { queue: { name, settings, consumer, jurisdiction: null, dialects: {} } };
}

function message(name: string) {
  const past = { id: "0".repeat(32), sentAt: new Date().toISOString(), attempts: 0, delaySeconds: 0 };
  return { in: name, message: { ...past, contentType: "text", text: "x" } };
}

/** Imports lines as a backup, which has to end with a code, and returns what is said. */
async function importOf(code: number, lines: readonly object[], ...options: string[]) {
  const messages = lines.filter((line) => "message" in line).length;
  const all = [...lines, { end: { messages } }];
  writeFileSync(join(lab.folder, "b.jsonl"), all.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return lab.words(code, ["import", "--all", "b.jsonl", ...options]);
}

async function api(path: string) {
  const response = await fetch(`${url}/__sluice/api${path}`);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const namesOn = async () =>
  ((await api("/queues")).body.queues as { name: string }[]).map(({ name }) => name).sort();

describe("an import of a backup that a person has changed", () => {
  it("continues with --resume from the first refused line once that is mended", async () => {
    const wrong = queue("orders");
    const broken = { queue: { ...wrong.queue, settings: { ...settings, deliveryDelaySeconds: -1 } } };
    const rest = [queue("other"), message("orders")];
    expect(await importOf(1, [HEADER, broken, ...rest])).toContain("b.jsonl:2: ");
    expect(await namesOn()).toEqual([]);
    expect(await importOf(1, [HEADER, wrong, ...rest])).toMatch(/--resume goes on/);
    expect(await importOf(0, [HEADER, wrong, ...rest], "--resume")).toMatch(
      /Imported 2 queues, .* and 1 message\./,
    );
    expect((await api("/queues/orders")).body).toMatchObject({ consumer: { type: "http_pull" } });
    expect(existsSync(join(lab.folder, "b.jsonl.sluice-import"))).toBe(false);
  });

  it("restores a queue as its own line says, even after a line that names it for dead letters", async () => {
    expect(await importOf(0, [HEADER, queue("a", "b"), queue("b", "c"), queue("c")])).toMatch(
      /Imported 3 queues/,
    );
    for (const name of ["a", "b", "c"]) {
      expect((await api(`/queues/${name}`)).body).toMatchObject({ consumer: { type: "http_pull" } });
    }
  });

  it("refuses dead letters that go in a circle before anything is created", async () => {
    expect(await importOf(1, [HEADER, queue("x"), queue("ca", "cb"), queue("cb", "ca")])).toMatch(
      /b\.jsonl:3: dead letters would go in a circle: ca -> cb -> ca/,
    );
    expect(await importOf(1, [HEADER, queue("selfq", "selfq")])).toMatch(/in a circle/);
    expect(await namesOn()).toEqual([]);
  });

  it("is refused for a queue that the broker has, whatever the first line says", async () => {
    await lab.run(["queues", "create", "prod"]);
    expect(await importOf(1, [HEADER, queue("prod"), message("prod"), message("prod")])).toMatch(
      /has these of the backup already: prod\. --merge/,
    );
    const topicArn = "arn:aws:sns:us-east-1:000000000000:news";
    const subscription = { arn: `${topicArn}:1`, topicArn, protocol: "http", endpoint: "http://a.example/" };
    const posing = {
      topicSubscription: {
        ...subscription,
        target: "prod",
        deadLetterQueue: null,
        attributes: {},
        isConfirmed: false,
      },
    };
    expect(await importOf(1, [HEADER, posing, message("prod")])).toContain("of the backup already: prod.");
    expect(await importOf(1, [HEADER, queue("own"), message("prod")])).toMatch(
      /b\.jsonl:3: the backup has no line for the queue prod/,
    );
    expect((await api("/queues/prod")).body).toMatchObject({ messages: { ready: 0 }, consumer: null });
    expect(await importOf(0, [HEADER, queue("own"), message("prod")], "--merge", "--resume")).toMatch(
      /Imported 0 queues, .* and 1 message\./,
    );
    expect((await api("/queues/prod")).body).toMatchObject({ messages: { ready: 1 } });
  });

  it.each([
    ["no queues", { queues: undefined }, /b\.jsonl:1: "queues" has to be a list of names/],
    ["topics that are no list", { topics: {} }, /b\.jsonl:1: "topics" has to be a list of names/],
  ])("is refused with %s in the first line", async (_, changes, problem) => {
    expect(await importOf(1, [{ ...HEADER, ...changes }])).toMatch(problem);
  });
});
