import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { expect, it, onTestFinished } from "vitest";
import { awsOptions, startSharedBroker } from "./any-broker.ts";

interface Damage {
  readonly kind: string;
  readonly messagesLost: number | null;
  readonly text: string;
}

/** Starts a broker on the data of the one before. */
async function start(persistDir: string) {
  const { origin, dispose } = await startSharedBroker({ SLUICE_ENV: "development" }, { persistDir });
  const sqs = new SQSClient(awsOptions(`${origin}/__sluice/aws`));
  const damageOf = async (queue: string) => {
    const answer = await fetch(`${origin}/__sluice/api/queues/${queue}`);
    return ((await answer.json()) as { damage: Damage[] }).damage;
  };
  const stop = async () => {
    sqs.destroy();
    await dispose();
  };
  return { sqs, damageOf, stop, url: (queue: string) => `${origin}/__sluice/aws/000000000000/${queue}` };
}

/** Finds the file of a queue's database, by the name in it. */
function fileOf(folder: string, queue: string): string {
  for (const entry of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const file = join(folder, entry);
    if (!/[0-9a-f]{64}\.sqlite$/.test(entry) || !statSync(file).isFile()) continue;
    const database = new DatabaseSync(file);
    try {
      const row = database.prepare("SELECT value FROM meta WHERE key = 'name'").get();
      if (row?.value === queue) return file;
    } catch {
      // The directory's file has no such table.
    } finally {
      database.close();
    }
  }
  throw new Error(`queue "${queue}" has no file`);
}

function exchange(one: string, other: string): void {
  for (const part of ["", "-wal", "-shm"]) {
    const moves = [
      [one, "aside"],
      [other, one],
      ["aside", other],
    ] as const;
    for (const [from, to] of moves) {
      const path = (file: string) => (file === "aside" ? `${one}.aside` : file) + part;
      if (existsSync(path(from))) renameSync(path(from), path(to));
    }
  }
}

it("queues whose files were exchanged deliver, accept and lose nothing, and report it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-exchanged-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const before = await start(folder);
  const queues = { many: 30, few: 10, other: 1 };
  for (const [QueueName, messages] of Object.entries(queues)) {
    const { QueueUrl } = await before.sqs.send(new CreateQueueCommand({ QueueName }));
    for (let i = 0; i < messages; i += 10) {
      const Entries = Array.from({ length: Math.min(10, messages) }, (_, at) => ({
        Id: `${at}`,
        MessageBody: `${QueueName} ${i + at}`,
      }));
      await before.sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    }
  }
  await before.stop();
  const [many, few] = [fileOf(folder, "many"), fileOf(folder, "few")];
  exchange(many, few);

  const exchanged = await start(folder);
  for (const [queue, own, its] of [
    ["many", many, "few"],
    ["few", few, "many"],
  ] as const) {
    const QueueUrl = exchanged.url(queue);
    await expect(exchanged.sqs.send(new ReceiveMessageCommand({ QueueUrl }))).rejects.toThrow();
    await expect(
      exchanged.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: "x" })),
    ).rejects.toThrow();
    const [damage] = await exchanged.damageOf(queue);
    expect(damage).toMatchObject({ kind: "unreadable", messagesLost: null });
    expect(damage?.text).toContain(
      `queue "${queue}" cannot be read: Error: its file ${basename(own)} is that of queue "${its}", whose place is ` +
        `${basename(own === many ? few : many)}. Stop the broker and put it there.`,
    );
  }
  const other = await exchanged.sqs.send(new ReceiveMessageCommand({ QueueUrl: exchanged.url("other") }));
  expect(other.Messages).toMatchObject([{ Body: "other 0" }]);
  await exchanged.stop();

  exchange(many, few);
  const after = await start(folder);
  for (const queue of ["many", "few"] as const) {
    const asked = { QueueUrl: after.url(queue), AttributeNames: ["ApproximateNumberOfMessages" as const] };
    const { Attributes } = await after.sqs.send(new GetQueueAttributesCommand(asked));
    expect(Attributes).toEqual({ ApproximateNumberOfMessages: `${queues[queue]}` });
    const received = await after.sqs.send(new ReceiveMessageCommand({ QueueUrl: after.url(queue) }));
    expect(received.Messages?.[0]?.Body).toMatch(new RegExp(`^${queue} `));
    expect(await after.damageOf(queue)).toEqual([]);
  }
  await after.stop();
});
