import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type OpenBroker, openBroker } from "@sluice/broker-worker/open-broker";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { StoredShape } from "./stored/shape.ts";

const STORED = join(import.meta.dirname, "stored");
const NAMES = readdirSync(STORED).flatMap((file) => /^(.*)\.tar\.gz$/.exec(file)?.[1] ?? []);
const ORIGIN = "http://127.0.0.1:8787";
const HOUR_MS = 3_600_000;
const ALERTS = { url: "https://hooks.shop.example/", format: "webhook", deadLetters: true } as const;

interface Received {
  readonly Body: string;
  readonly ReceiptHandle: string;
}

/** Data folders of all releases, which every later release must open with all of their contents. */
describe.each(NAMES)("a data folder of the shape %s", (name) => {
  const shape: StoredShape = JSON.parse(readFileSync(join(STORED, `${name}.json`), "utf8"));
  let folder: string;
  let broker: OpenBroker;

  const open = () =>
    openBroker({
      folder: join(folder, "v3/do"),
      worker: "sluice",
      topology: { queues: {}, ...(shape.alerts && { alerts: ALERTS }) },
      vars: { SLUICE_ENV: "local" },
    });
  const api = async (path: string) => {
    const response = await broker.gateway.request(`${ORIGIN}/__sluice/api${path}`);
    expect(response.status).toBe(200);
    return response.json();
  };
  const sqs = async (action: string, input: object): Promise<{ Messages?: Received[] }> => {
    const response = await broker.gateway.request(`${ORIGIN}/__sluice/aws`, {
      method: "POST",
      headers: { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${action}` },
      body: JSON.stringify(input),
    });
    const text = await response.text();
    expect(response.status, text).toBe(200);
    return text === "" ? {} : JSON.parse(text);
  };
  /** Shortens a body of more than 100 characters to its first word. */
  const bodyOf = (text: string) => (text.length > 100 ? (text.split(" ")[0] ?? "") : text);

  /** Receives and deletes everything. */
  const drained = async (queue: string): Promise<string[]> => {
    const QueueUrl = `${ORIGIN}/000000000000/${queue}`;
    const bodies: string[] = [];
    for (;;) {
      const input = { QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 60 };
      const { Messages = [] } = await sqs("ReceiveMessage", input);
      if (Messages.length === 0) return bodies;
      bodies.push(...Messages.map(({ Body }) => bodyOf(Body)));
      for (const { ReceiptHandle } of Messages) await sqs("DeleteMessage", { QueueUrl, ReceiptHandle });
    }
  };

  beforeEach(() => {
    // Its messages have not expired at that time.
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse(shape.at) + 1_000 });
    folder = mkdtempSync(join(tmpdir(), "sluice-stored-"));
    execFileSync("tar", ["-xzf", join(STORED, `${name}.tar.gz`), "-C", folder]);
    broker = open();
  });
  afterEach(() => {
    broker.close();
    rmSync(folder, { recursive: true, force: true });
    vi.useRealTimers();
  });

  it("opens with every queue, message, lease, topic and alert", async () => {
    const { queues } = (await api("/queues")) as { queues: { name: string; damage: unknown[] }[] };
    expect(queues.map((queue) => queue.name).sort()).toEqual(Object.keys(shape.queues).sort());
    expect(queues.flatMap(({ damage }) => damage)).toEqual([]);
    for (const [queue, expected] of Object.entries(shape.queues)) {
      const { messages } = (await api(`/queues/${queue}/messages?max=100&whole=true`)) as {
        messages: { text: string; state: string }[];
      };
      expect(messages.map(({ text }) => bodyOf(text)).sort()).toEqual([...expected].sort());
      if (queue !== "orders") continue;
      const leased = messages.filter(({ state }) => state === "leased");
      expect(leased.map(({ text }) => bodyOf(text)).sort()).toEqual(shape.leased);
    }
    const { topics } = (await api("/topics")) as { topics: { arn: string }[] };
    expect(topics.map(({ arn }) => arn)).toEqual(shape.topics);
    const { on = [], waiting } = shape.alerts ?? {};
    const { alerts, webhook } = (await api("/alerts")) as { alerts: object[]; webhook: object | null };
    // Without its key nothing is reported.
    expect(alerts).toEqual(on.map((alert) => expect.objectContaining({ ...alert, reported: false })));
    expect(webhook).toEqual(waiting === undefined ? null : expect.objectContaining({ waiting }));
  });

  it("delivers each message once, in order where a queue has one, and can be opened again", async () => {
    vi.setSystemTime(Date.parse(shape.at) + 13 * HOUR_MS);
    for (const [queue, expected] of Object.entries(shape.queues)) {
      const bodies = await drained(queue);
      expect(bodies.toSorted()).toEqual([...expected].sort());
      for (const group of queue === "line.fifo" ? ["a", "b"] : []) {
        const own = (body: string) => body.startsWith(group);
        expect(bodies.filter(own)).toEqual(expected.filter(own));
      }
    }
    broker.close();
    broker = open();
    for (const queue of Object.keys(shape.queues)) expect(await drained(queue)).toEqual([]);
  });
});
