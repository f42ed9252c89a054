import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteQueueCommand,
  GetQueueAttributesCommand,
  ListQueuesCommand,
  PurgeQueueCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { RESERVE_FILE } from "@sluice/local/data/reserve";
import { mountSmallDisk, type SmallDisk } from "@sluice/local/test/small-disk";
import getPort from "@sluice/protocol/test/free-port";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Running, sluice } from "./running.ts";
import { CLIENT, ENV, temporaryFolder } from "./serving.ts";

const FILLER = "x".repeat(50_000);
const QUEUES = ["drained", "later", "purged", "dropped"] as const;
type Queue = (typeof QUEUES)[number];
const FULL = "Queue storage limit exceeded: its disk or its database is full.";
/** Refusals in a row after which the disk counts as full. */
const REFUSED = 8;

/** A broker on its own disk, started and ended with the tests of a suite. */
function openBroker(
  disk: SmallDisk | null,
  files: Readonly<Record<string, string>>,
  ...targets: readonly string[]
) {
  const folder = temporaryFolder();
  for (const [name, contents] of Object.entries(files)) writeFileSync(join(folder, name), contents);
  const sent: Record<Queue, number> = { drained: 0, later: 0, purged: 0, dropped: 0 };
  let port = 0;
  let running: Running;
  let client: SQSClient;
  const state = join(disk?.folder ?? "", "state");
  const reserve = join(state, RESERVE_FILE);
  const path = (name: string) => `http://127.0.0.1:${port}/${name}`;
  const url = (queue: Queue) => path(`__sluice/aws/000000000000/${queue}`);

  const start = async () => {
    running = sluice(["serve", ...targets, "--port", `${port}`, "--persist-to", state], folder, ENV);
    await running.printed(/data {4}/);
  };
  const send = async (queue: Queue): Promise<string | null> => {
    try {
      await client.send(new SendMessageCommand({ QueueUrl: url(queue), MessageBody: FILLER }));
      sent[queue] += 1;
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  };
  const attributesOf = async (queue: Queue) => {
    const asked = new GetQueueAttributesCommand({ QueueUrl: url(queue), AttributeNames: ["All"] });
    return (await client.send(asked)).Attributes ?? {};
  };
  /** Receives and deletes everything. A call that fills the disk between two checks fails once. */
  const drain = async (queue: Queue) => {
    const again = async <Reply>(call: () => Promise<Reply>): Promise<Reply> => {
      try {
        return await call();
      } catch (error) {
        if ((error as Error).message !== FULL) throw error;
        return await call();
      }
    };
    let drained = 0;
    while (drained < sent[queue]) {
      const receive = new ReceiveMessageCommand({
        QueueUrl: url(queue),
        MaxNumberOfMessages: 10,
        WaitTimeSeconds: 5,
      });
      const { Messages = [] } = await again(() => client.send(receive));
      expect(Messages.length, `after ${drained} of ${sent[queue]}`).toBeGreaterThan(0);
      const Entries = Messages.map(({ ReceiptHandle }, i) => ({ Id: `${i}`, ReceiptHandle }));
      const { Failed = [] } = await again(() =>
        client.send(new DeleteMessageBatchCommand({ QueueUrl: url(queue), Entries })),
      );
      expect(Failed).toEqual([]);
      drained += Messages.length;
    }
    sent[queue] = 0;
  };
  const fillUp = async () => {
    const refusals: string[] = [];
    for (let i = 0; refusals.length < REFUSED; i++) {
      const refusal = await send(QUEUES[i % QUEUES.length] ?? "drained");
      if (refusal === null) refusals.length = 0;
      else refusals.push(refusal);
    }
    expect(new Set(refusals)).toEqual(new Set([FULL]));
  };
  const look = async () => {
    const kept = ["", ...readdirSync(state, { recursive: true, encoding: "utf8" })].map((name) =>
      join(state, name),
    );
    expect(kept.filter((path) => (statSync(path).mode & 0o077) !== 0)).toEqual([]);
    for (const queue of QUEUES) {
      // A call that fills the disk between two checks fails once.
      await expect
        .poll(() => attributesOf(queue).catch(() => null))
        .toMatchObject({ ApproximateNumberOfMessages: `${sent[queue]}` });
    }
    expect((await client.send(new ListQueuesCommand({}))).QueueUrls).toHaveLength(QUEUES.length);
    for (const name of ["health", "metrics", "api/queues", "api/queues/later"]) {
      const answer = await fetch(path(`__sluice/${name}`));
      expect([name, answer.status]).toEqual([name, 200]);
      expect(await answer.text()).not.toContain("cannot be read");
    }
  };

  beforeAll(async () => {
    port = await getPort();
    client = new SQSClient({ endpoint: `http://127.0.0.1:${port}/__sluice/aws`, ...CLIENT, maxAttempts: 1 });
    await start();
    for (const QueueName of QUEUES) await client.send(new CreateQueueCommand({ QueueName }));
  });
  afterAll(async () => {
    client?.destroy();
    await running?.stop();
    disk?.unmount();
  });

  return {
    client: () => client,
    path,
    url,
    reserve,
    start,
    send,
    attributesOf,
    drain,
    fillUp,
    look,
    sent,
    output: () => running.output,
    stop: (signal?: NodeJS.Signals) => running.stop(signal),
  };
}

const disk = mountSmallDisk(24);
if (disk === null)
  console.warn("A disk cannot be mounted here, which needs root: a full one is not drained.");

describe.runIf(disk !== null)("sluice serve on a disk full of its messages", () => {
  const { client, url, reserve, start, send, attributesOf, drain, fillUp, look, sent, output, stop } =
    openBroker(disk, {});

  it("reports, delivers, deletes and purges messages, and accepts new ones then", async () => {
    await fillUp();
    expect(existsSync(reserve)).toBe(false);
    await look();
    await drain("drained");
    // The deleted messages are room on the disk, of which a reserve is kept.
    await expect.poll(() => existsSync(reserve), { interval: 50 }).toBe(true);
    await stop("SIGKILL");
    disk?.fill();
    await start();
    // The reserve was freed at the start. It returns as soon as the logs of the killed process have made room.
    expect(output()).toContain("is full: no messages are taken in until 10 MB are free.");
    await look();
    // The logs that the killed process left become room too.
    await fillUp();
    await look();
    await drain("later");
    await stop();
    await start();
    await look();
    await client().send(new PurgeQueueCommand({ QueueUrl: url("purged") }));
    expect(await attributesOf("purged")).toMatchObject({ ApproximateNumberOfMessages: "0" });
    sent.purged = 0;
    await client().send(new DeleteQueueCommand({ QueueUrl: url("dropped") }));
    // The deleted messages are room for any queue.
    await expect.poll(() => send("later"), { interval: 100 }).toBe(null);
    await client().send(new CreateQueueCommand({ QueueName: "another" }));
    for (let i = 0; i < 50; i++) {
      await expect.poll(() => send("later"), { interval: 100 }).toBe(null);
    }
    await drain("later");
  });

  it("deletes messages even when files of another program fill the disk", async () => {
    // Files of drained queues shrink one by one, so the disk may be full again for a moment.
    for (let i = 0; i < 20; i++) {
      await expect.poll(() => send("later"), { interval: 100 }).toBe(null);
    }
    disk?.fill();
    await expect.poll(() => send("later"), { interval: 50 }).toBe(FULL);
    await drain("later");
    disk?.giveRoom();
    await expect.poll(() => send("later"), { interval: 100 }).toBe(null);
    await drain("later");
  }, 60_000);
});

const workerdDisk = mountSmallDisk(34);

describe.runIf(workerdDisk !== null)("sluice serve with a Worker, on a disk full of its messages", () => {
  const worker = {
    "wrangler.toml":
      'name = "front"\nmain = "index.mjs"\ncompatibility_date = ' +
      '"2026-01-01"\n[[queues.producers]]\nqueue = "later"\nbinding = "LATER"\n',
    "index.mjs": `export default {
      async fetch(request, env) {
        return new Response(await env.LATER.send("x").then(() => "sent", (error) => String(error)));
      },
    };`,
  };
  const { client, url, reserve, start, send, attributesOf, drain, fillUp, look, sent, stop, path } =
    openBroker(workerdDisk, worker, ".");

  it("delivers, deletes and purges messages, and gives room back after a restart", async () => {
    await fillUp();
    expect(existsSync(reserve)).toBe(false);
    expect(await (await fetch(path(""))).text()).toContain("Queue storage limit exceeded");
    await look();
    await drain("drained");
    await client().send(new PurgeQueueCommand({ QueueUrl: url("purged") }));
    expect(await attributesOf("purged")).toMatchObject({ ApproximateNumberOfMessages: "0" });
    sent.purged = 0;
    await client().send(new DeleteQueueCommand({ QueueUrl: url("dropped") }));
    await stop("SIGKILL");
    await start();
    await expect.poll(() => send("later"), { interval: 100 }).toBe(null);
    await drain("later");
  });
});
