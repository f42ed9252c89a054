import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "@sluice/harness/random";
import { SqsRefusal, sqs } from "./client.ts";
import { QUEUES, queueUrl } from "./queues.ts";
import type { ReceiveLedger, Taken } from "./receive-ledger.ts";
import { attempt } from "./sqs-producers.ts";

/** Clients that receive from each queue at the same time. */
const CONSUMERS = 4;
const RECEIVE_MAX = 10;
const WAIT_SECONDS = 1;
/** Longest time that a consumer works on what it has received, in ms; most take none. */
const WORK_MS_MAX = 60;
/** New visibility timeouts of changes, in seconds. */
const CHANGED_SECONDS = [0, 0, 1, 8] as const;

interface Consuming {
  readonly endpoint: string;
  readonly ledger: ReceiveLedger;
  readonly random: Random;
  /** Whether every received message is deleted, as at the end of a run. */
  isDraining(): boolean;
  readonly stop: AbortSignal;
}

/** Receives from all queues, and deletes most messages, until `stop` or until the broker does not answer. */
export async function consume(consuming: Consuming): Promise<void> {
  const { random } = consuming;
  await Promise.all(
    QUEUES.flatMap(({ name }) =>
      Array.from({ length: CONSUMERS }, () => consumeFrom(name, { ...consuming, random: random.fork() })),
    ),
  );
}

async function consumeFrom(queue: string, consuming: Consuming): Promise<void> {
  const { endpoint, ledger, random, stop } = consuming;
  while (!stop.aborted) {
    let taken: Taken[] = [];
    const outcome = await attempt(ledger, async () => {
      const askedAtMs = Date.now();
      const { Messages = [] } = await sqs(
        endpoint,
        "ReceiveMessage",
        {
          QueueUrl: queueUrl(endpoint, queue),
          MaxNumberOfMessages: random.between(1, RECEIVE_MAX),
          WaitTimeSeconds: WAIT_SECONDS,
          AttributeNames: ["ApproximateReceiveCount"],
        },
        // The broker releases messages whose client has hung up.
        stop,
      );
      taken = ledger.receivedFrom(queue, Messages, askedAtMs);
    });
    if (outcome === "gone") return;
    if (taken.length > 0 && (await settle(queue, taken, consuming)) === "gone") return;
  }
}

async function settle(queue: string, taken: readonly Taken[], consuming: Consuming) {
  const { random } = consuming;
  if (consuming.isDraining()) return deleteAll(queue, taken, consuming);
  if (random.chance(0.3)) await sleep(random.between(0, WORK_MS_MAX));
  const drawn = random.fraction();
  // The client does nothing: the messages come again when their visibility timeout ends.
  if (drawn < 0.08) return "answered";
  if (drawn < 0.2) return changeEach(queue, taken, consuming);
  if (drawn < 0.6) return deleteAll(queue, taken, consuming);
  for (const each of taken) {
    if ((await deleteOne(queue, each, consuming)) === "gone") return "gone";
  }
  return "answered";
}

function deleteAll(queue: string, taken: readonly Taken[], { ledger, endpoint }: Consuming) {
  for (const each of taken) ledger.deleting(each);
  return attempt(ledger, async () => {
    const Entries = taken.map(({ receive }, i) => ({ Id: `${i}`, ReceiptHandle: receive.handle }));
    const QueueUrl = queueUrl(endpoint, queue);
    const { Successful = [] } = await sqs(endpoint, "DeleteMessageBatch", { QueueUrl, Entries });
    const done = new Set(Successful.map(({ Id }) => taken[Number(Id)]));
    for (const each of taken) {
      if (done.has(each)) ledger.deleted(each);
    }
  });
}

function deleteOne(queue: string, taken: Taken, { ledger, endpoint }: Consuming) {
  ledger.deleting(taken);
  return attempt(ledger, async () => {
    try {
      const input = { QueueUrl: queueUrl(endpoint, queue), ReceiptHandle: taken.receive.handle };
      await sqs(endpoint, "DeleteMessage", input);
      ledger.deleted(taken);
    } catch (error) {
      if (error instanceof SqsRefusal && error.status < 500) ledger.notDeleted(taken);
      throw error;
    }
  });
}

async function changeEach(queue: string, taken: readonly Taken[], consuming: Consuming) {
  const { ledger, endpoint, random } = consuming;
  for (const each of taken) {
    const VisibilityTimeout = random.pick(CHANGED_SECONDS);
    const askedAtMs = Date.now();
    ledger.changing(each);
    const outcome = await attempt(ledger, async () => {
      const { handle: ReceiptHandle } = each.receive;
      const input = { QueueUrl: queueUrl(endpoint, queue), ReceiptHandle, VisibilityTimeout };
      await sqs(endpoint, "ChangeMessageVisibility", input);
      ledger.changed(each, askedAtMs, 1_000 * VisibilityTimeout);
    });
    if (outcome === "gone") return "gone";
  }
  return "answered";
}
