import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "@sluice/harness/random";
import { DamageLedger, type Kept } from "../damage/damage-ledger.ts";
import type { BrokerProcess } from "./broker-process.ts";
import { sqs } from "./client.ts";
import { ORDERED_QUEUE, QUEUES, UNORDERED_QUEUES } from "./queues.ts";

/** Queues that messages are in when the damage is done. */
export const DAMAGED_QUEUES = [...UNORDERED_QUEUES, ORDERED_QUEUE] as const;
/** A queue reports how far it has come at most 5 s after a commit; what was committed since is not covered. In ms. */
const REPORTED_AFTER_MS = 7_000;
/** Batches that are sent to each queue, and batches that are received of it. */
const SENT_BATCHES = 40;
const RECEIVED_BATCHES = 20;
const BATCH = 10;
const GROUPS = 5;

/** A state with messages in every queue, some received, some deleted, and nothing under way. */
export interface SqsBaseState {
  readonly folder: string;
  readonly kept: readonly Kept[];
  readonly urls: ReadonlyMap<string, string>;
}

/**
 * Makes a state to be damaged. Its process is ended with kill -9, so that the latest of it lies in the logs.
 *
 * @param start starts the broker on a folder.
 */
export async function makeSqsBaseState(
  start: (folder: string) => Promise<BrokerProcess>,
  random: Random,
): Promise<SqsBaseState> {
  const folder = await mkdtemp(path.join(tmpdir(), "sluice-damage-base-"));
  const ledger = new DamageLedger();
  const urls = new Map<string, string>();
  const life = await start(folder);
  try {
    for (const { name, attributes } of QUEUES) {
      const input = { QueueName: name, Attributes: attributes };
      urls.set(name, (await sqs(life.endpoint, "CreateQueue", input)).QueueUrl);
    }
    for (const queue of DAMAGED_QUEUES) {
      const QueueUrl = urls.get(queue) ?? "";
      for (let batch = 0; batch < SENT_BATCHES; batch++) {
        await send(life.endpoint, QueueUrl, queue, ledger, random);
      }
      for (let batch = 0; batch < RECEIVED_BATCHES; batch++) {
        await receive(life.endpoint, QueueUrl, ledger, random);
      }
    }
    await sleep(REPORTED_AFTER_MS);
    return { folder, kept: ledger.messages, urls };
  } finally {
    await life.kill();
  }
}

async function send(
  endpoint: string,
  QueueUrl: string,
  queue: string,
  ledger: DamageLedger,
  random: Random,
): Promise<void> {
  const Entries = Array.from({ length: BATCH }, (_, i) => {
    const bytes = random.chance(0.05) ? random.between(1_000, 20_000) : random.between(1, 400);
    const { message, body } = ledger.intend({ queue, bytes });
    ledger.acknowledged(message);
    const ordered = {
      MessageGroupId: `${random.between(1, GROUPS)}`,
      MessageDeduplicationId: `${message.tag}`,
    };
    return {
      ...{ Id: `${i}`, MessageBody: body },
      ...(queue === ORDERED_QUEUE ? ordered : {}),
    };
  });
  const { Failed = [] } = await sqs(endpoint, "SendMessageBatch", { QueueUrl, Entries });
  if (Failed.length > 0) throw new Error(`a healthy queue refused a message: ${Failed[0]?.Message}`);
}

/** Half of what is received is deleted, the other half given back. */
async function receive(
  endpoint: string,
  QueueUrl: string,
  ledger: DamageLedger,
  random: Random,
): Promise<void> {
  const { Messages = [] } = await sqs(endpoint, "ReceiveMessage", { QueueUrl, MaxNumberOfMessages: BATCH });
  for (const { Body, ReceiptHandle } of Messages) {
    const message = ledger.sentAs(Body);
    if (random.chance(0.5)) {
      await sqs(endpoint, "DeleteMessage", { QueueUrl, ReceiptHandle });
      message.isSettled = true;
    } else {
      await sqs(endpoint, "ChangeMessageVisibility", { QueueUrl, ReceiptHandle, VisibilityTimeout: 0 });
    }
  }
}
