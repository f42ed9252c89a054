import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Random } from "@sluice/harness/random";
import getPort from "@sluice/protocol/test/free-port";
import type { DamageLedger } from "../damage/damage-ledger.ts";
import type { DamagedBroker, DamagedEpoch } from "../damage/run-damage.ts";
import { BrokerProcess } from "./broker-process.ts";
import { type ReceivedMessage, SqsRefusal, sqs } from "./client.ts";
import { buildCommand } from "./command.ts";
import {
  createQueues,
  DEAD_QUEUE,
  ORDERED_QUEUE,
  queueNamed,
  queueUrl,
  UNORDERED_QUEUES,
  VISIBILITY_MS,
} from "./queues.ts";

/** Queues that have messages when the damage is done. */
export const DAMAGED_QUEUES = [...UNORDERED_QUEUES, ORDERED_QUEUE] as const;
/** Batches that are sent to each queue. */
const SENT_BATCHES = 40;
/** Batches that are received from each queue. */
const RECEIVED_BATCHES = 20;
const BATCH = 10;
const GROUPS = 5;
/** Time without a message after which those that have not come are missing, in ms: longer than any is hidden. */
const STALLED_MS = VISIBILITY_MS + 1_000;
/** Longest time until a probe is received, in ms. */
const PROBE_MS_MAX = 15_000;

/** The broker alone, with clients of SQS, whose files are damaged. Its process must not end by that. */
export async function damagedSqs(): Promise<DamagedBroker> {
  const command = await buildCommand();
  const runFolder = await mkdtemp(path.join(tmpdir(), "sluice-soak-process-"));
  const port = await getPort();
  return {
    casesPerState: 28,
    queues: DAMAGED_QUEUES,
    async start(persistDir, ledger) {
      return epochOf(
        await BrokerProcess.start({ main: command.main, port, persistDir, folder: runFolder }),
        ledger,
      );
    },
    async close() {
      await rm(runFolder, { recursive: true, force: true });
      await command.remove();
    },
  };
}

function epochOf(epoch: BrokerProcess, ledger: DamageLedger): DamagedEpoch {
  const { endpoint } = epoch;
  return {
    get lines() {
      return epoch.lines;
    },
    async fill(random) {
      await createQueues(endpoint);
      for (const queue of DAMAGED_QUEUES) {
        const url = queueUrl(endpoint, queue);
        for (let batch = 0; batch < SENT_BATCHES; batch++) await send(endpoint, url, queue, ledger, random);
        for (let batch = 0; batch < RECEIVED_BATCHES; batch++)
          await settleHalf(endpoint, url, ledger, random);
      }
    },
    async takeAll() {
      await Promise.all(
        DAMAGED_QUEUES.map(async (queue) => {
          await receiveAll(endpoint, queue, queue, ledger);
          // Some were released so often before the damage that they are dead letters.
          if (queueNamed(queue).receivesMax !== null) await receiveAll(endpoint, DEAD_QUEUE, queue, ledger);
        }),
      );
    },
    async probe(queue) {
      const QueueUrl = queueUrl(endpoint, queue);
      const { message, body: MessageBody } = ledger.intend({ queue, bytes: 50 });
      const ordered = { MessageGroupId: `${message.tag}`, MessageDeduplicationId: `${message.tag}` };
      try {
        const input = { QueueUrl, MessageBody, ...(queue === ORDERED_QUEUE ? ordered : {}) };
        await sqs(endpoint, "SendMessage", input);
      } catch (error) {
        if (error instanceof SqsRefusal) return "refused";
        throw error;
      }
      const deadlineMs = Date.now() + PROBE_MS_MAX;
      while (Date.now() < deadlineMs) {
        if ((await receive(endpoint, QueueUrl)).some(({ Body }) => Body === MessageBody)) return "delivered";
      }
      return "lost";
    },
    queues: () => epoch.queues(),
    hasEnded: () => epoch.ended !== null,
    kill: () => epoch.kill(),
  };
}

async function send(
  endpoint: string,
  QueueUrl: string,
  queue: string,
  ledger: DamageLedger,
  random: Random,
): Promise<void> {
  const Entries = Array.from({ length: BATCH }, (_, i) => {
    const { message, body } = ledger.stored(queue, random);
    const ordered = {
      MessageGroupId: `${random.between(1, GROUPS)}`,
      MessageDeduplicationId: `${message.tag}`,
    };
    return { Id: `${i}`, MessageBody: body, ...(queue === ORDERED_QUEUE ? ordered : {}) };
  });
  const { Failed = [] } = await sqs(endpoint, "SendMessageBatch", { QueueUrl, Entries });
  if (Failed.length > 0) throw new Error(`a healthy queue refused a message: ${Failed[0]?.Message}`);
}

/** Receives a batch, deletes half of it and releases the other half. */
async function settleHalf(
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

/**
 * Receives and deletes until no message of `queue` is missing, or none has come for `STALLED_MS`.
 *
 * @param from the queue that is received from: `queue` or its dead-letter queue.
 */
async function receiveAll(
  endpoint: string,
  from: string,
  queue: string,
  ledger: DamageLedger,
): Promise<void> {
  const url = queueUrl(endpoint, from);
  const take = async () => {
    const messages = (await receive(endpoint, url)).map(({ Body }) => ({ body: Body }));
    ledger.delivered({ queue, messages });
    return messages.length;
  };
  for (let sinceMs = Date.now(); Date.now() - sinceMs < STALLED_MS && ledger.missing(queue) > 0; ) {
    if ((await take()) > 0) sinceMs = Date.now();
  }
  // Once more for deleted messages that come again.
  await take();
}

/** Receives messages and deletes them; none if either call is refused. */
async function receive(endpoint: string, QueueUrl: string): Promise<readonly ReceivedMessage[]> {
  try {
    const input = { QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 };
    const { Messages = [] } = await sqs(endpoint, "ReceiveMessage", input);
    const Entries = Messages.map(({ ReceiptHandle }, i) => ({ Id: `${i}`, ReceiptHandle }));
    if (Entries.length > 0) await sqs(endpoint, "DeleteMessageBatch", { QueueUrl, Entries });
    return Messages;
  } catch (error) {
    if (error instanceof SqsRefusal) return [];
    throw error;
  }
}
