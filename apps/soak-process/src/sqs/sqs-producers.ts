import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "@sluice/harness/random";
import { NoAnswer, SqsRefusal, sqs } from "./client.ts";
import { ORDERED_QUEUE, queueUrl, UNORDERED_QUEUES } from "./queues.ts";
import type { ReceiveLedger } from "./receive-ledger.ts";
import type { SqsMessage } from "./sqs-message.ts";

/** Clients that send to the standard queues at the same time. */
const PRODUCERS = 16;
/** Groups of the FIFO queue, each with a client of its own. */
export const GROUPS = 8;
/** Owed messages at which producers pause: more would only make the end of a run longer. */
const OWED_MAX = 3_000;
/** Longest pause between two calls of a producer, in ms. */
const PAUSE_MS_MAX = 10;
/** Pause after a refusal, in ms. */
const REFUSED_PAUSE_MS = 20;
/** Longest delay of a message, in seconds. */
const DELAY_SECONDS_MAX = 3;
const BATCH_MAX = 10;

/** Message of each group whose send was not answered: the next send is of it again, with its deduplication id. */
export type Unanswered = Map<string, { readonly message: SqsMessage; readonly body: string }>;

export interface Producing {
  readonly endpoint: string;
  readonly ledger: ReceiveLedger;
  readonly random: Random;
  readonly unanswered: Unanswered;
  readonly stop: AbortSignal;
}

/** Sends at random until `stop`, or until the broker does not answer. */
export async function produce(producing: Producing): Promise<void> {
  const { random } = producing;
  await Promise.all([
    ...Array.from({ length: PRODUCERS }, () =>
      produceUnordered({ ...producing, random: random.fork() }, UNORDERED_QUEUES),
    ),
    ...Array.from({ length: GROUPS }, (_, group) =>
      produceOrdered({ ...producing, random: random.fork() }, ORDERED_QUEUE, `g${group}`),
    ),
  ]);
}

/** Sends to the queues at random until `stop`, or until the broker does not answer. */
export async function produceUnordered(
  producing: Producing,
  queues: readonly [string, ...string[]],
): Promise<void> {
  const { random, ledger, stop } = producing;
  while (!stop.aborted) {
    if (ledger.owed < OWED_MAX && (await sendSome(producing, random.pick(queues))) === "gone") return;
    await sleep(random.between(0, PAUSE_MS_MAX));
  }
}

async function sendSome(
  { random, ledger, endpoint }: Producing,
  queue: string,
): Promise<"answered" | "gone"> {
  const drawn = Array.from({ length: random.chance(0.4) ? random.between(1, BATCH_MAX) : 1 }, () => {
    const delaySeconds = random.chance(0.2) ? random.between(1, DELAY_SECONDS_MAX) : 0;
    const bytes = random.chance(0.02) ? random.between(1_000, 20_000) : random.between(1, 400);
    return { delaySeconds, ...ledger.intend({ queue, group: null, bytes, delayMs: 1_000 * delaySeconds }) };
  });
  const QueueUrl = queueUrl(endpoint, queue);
  const [only] = drawn;
  return attempt(ledger, async () => {
    if (drawn.length === 1 && only !== undefined) {
      const { body, delaySeconds } = only;
      await sqs(endpoint, "SendMessage", { QueueUrl, MessageBody: body, DelaySeconds: delaySeconds });
      ledger.acknowledged(only.message);
      return;
    }
    const Entries = drawn.map(({ body, delaySeconds }, i) => ({
      Id: `${i}`,
      MessageBody: body,
      DelaySeconds: delaySeconds,
    }));
    const { Successful = [], Failed = [] } = await sqs(endpoint, "SendMessageBatch", { QueueUrl, Entries });
    for (const { Id } of Successful) {
      const sent = drawn[Number(Id)];
      if (sent !== undefined) ledger.acknowledged(sent.message);
    }
    for (const { Code, Message } of Failed) ledger.refusedWith(`${Code}: ${Message}`);
  });
}

/** Sends a group's messages one after the other until `stop`. A refused or unanswered send is made again first. */
export async function produceOrdered(producing: Producing, queue: string, group: string): Promise<void> {
  const { random, ledger, stop, endpoint, unanswered } = producing;
  const QueueUrl = queueUrl(endpoint, queue);
  while (!stop.aborted) {
    const before = unanswered.get(group);
    if (before === undefined && ledger.owed >= OWED_MAX) {
      await sleep(PAUSE_MS_MAX);
      continue;
    }
    if (before !== undefined) ledger.resent += 1;
    const given = { queue, group, bytes: random.between(1, 400), delayMs: 0 };
    const { message, body } = before ?? ledger.intend(given);
    unanswered.set(group, { message, body });
    const outcome = await attempt(ledger, async () => {
      await sqs(endpoint, "SendMessage", {
        QueueUrl,
        MessageBody: body,
        MessageGroupId: group,
        MessageDeduplicationId: `${message.tag}`,
      });
      ledger.acknowledged(message);
      unanswered.delete(group);
    });
    if (outcome === "gone") return;
    await sleep(random.between(0, PAUSE_MS_MAX));
  }
}

/** Makes a call, and enters its refusal. `gone` if there was no answer. Any other error is a violation. */
export async function attempt(
  ledger: ReceiveLedger,
  call: () => Promise<void>,
): Promise<"answered" | "gone"> {
  try {
    await call();
    return "answered";
  } catch (error) {
    if (error instanceof NoAnswer) return "gone";
    if (!(error instanceof SqsRefusal)) {
      ledger.violation(`a client failed: ${error instanceof Error ? error.stack : error}`);
      return "gone";
    }
    ledger.refusedWith(`${error.status} ${error.code}: ${error.message}`);
    await sleep(REFUSED_PAUSE_MS);
    return "answered";
  }
}
