import { latency } from "../measure/statistics.ts";
import { preciseNow } from "../peers/peer-client.ts";
import { type Payload, payload } from "../workload/payload.ts";
import { type Measured, perSecond } from "../workload/run.ts";
import type { SqsWay } from "./sqs-cases.ts";
import type { SqsClient } from "./sqs-client.ts";

const BATCH = 10;
/** Calls under way while a queue is filled for a run that only empties it. */
const FILLERS = 16;
const RECEIVERS = 8;
/** Time that a receive waits while its queue is empty, in s. */
const WAIT_SECONDS = 1;
/** Time without a message after which those that have not come are lost, in ms. */
const STALLED_MS = 30_000;

/** Queue of a run, and the times that are measured in it. */
export interface SqsRun {
  readonly client: SqsClient;
  readonly queueUrl: string;
  readonly callMs: number[];
  readonly endToEndMs: number[];
}

/** Rates of one run; `NaN` for the one that the way does not have. */
type Rates = Pick<Measured, "sentPerSecond" | "handledPerSecond">;

/**
 * Fills the queue for a run that only empties it.
 *
 * @param messages a multiple of the case's step.
 */
export async function prepareSqs(
  client: SqsClient,
  queueUrl: string,
  way: SqsWay,
  messages: number,
): Promise<SqsRun> {
  const run: SqsRun = { client, queueUrl, callMs: [], endToEndMs: [] };
  if (way === "sqs-drain16") await fill({ ...run, callMs: [] }, messages);
  return run;
}

export async function runSqs(run: SqsRun, way: SqsWay, messages: number): Promise<Measured> {
  const rates = await WAYS[way](run, messages);
  return { messages, ...rates, call: latency(run.callMs), endToEnd: latency(run.endToEndMs) };
}

const WAYS: Readonly<Record<SqsWay, (run: SqsRun, messages: number) => Promise<Rates>>> = {
  "sqs-single": (run, messages) => sending(run, messages, 1),
  "sqs-senders50": (run, messages) => sending(run, messages, 50),

  async "sqs-batches16"(run, messages) {
    const startMs = performance.now();
    await fill(run, messages);
    return { sentPerSecond: perSecond(messages, performance.now() - startMs), handledPerSecond: Number.NaN };
  },

  async "sqs-drain16"(run, messages) {
    const startMs = performance.now();
    const doneMs = await drain({ ...run, endToEndMs: [] }, messages, 16, 0);
    return { sentPerSecond: Number.NaN, handledPerSecond: perSecond(messages, doneMs - startMs) };
  },

  async "sqs-through"(run, messages) {
    const startMs = performance.now();
    const [{ sentPerSecond }, doneMs] = await Promise.all([
      sending(run, messages, 25),
      drain({ ...run, callMs: [] }, messages, RECEIVERS, WAIT_SECONDS),
    ]);
    return { sentPerSecond, handledPerSecond: perSecond(messages, doneMs - startMs) };
  },
};

async function sending(run: SqsRun, messages: number, senders: number): Promise<Rates> {
  const startMs = performance.now();
  const { client, queueUrl } = run;
  await inLanes(senders, messages, () => timed(run, () => client.send(queueUrl, body())));
  return { sentPerSecond: perSecond(messages, performance.now() - startMs), handledPerSecond: Number.NaN };
}

function fill(run: SqsRun, messages: number): Promise<void> {
  const { client, queueUrl } = run;
  return inLanes(FILLERS, messages / BATCH, () =>
    timed(run, () => client.sendBatch(queueUrl, Array.from({ length: BATCH }, body))),
  );
}

/**
 * Receives and deletes until `messages` are handled. Rejects if more come, or if none comes for `STALLED_MS`.
 *
 * @returns the time of the last deletion: receives that still wait then are no part of the run.
 */
async function drain(run: SqsRun, messages: number, receivers: number, waitSeconds: number): Promise<number> {
  const { client, queueUrl } = run;
  let handled = 0;
  let doneMs = 0;
  let cameMs = performance.now();
  const receive = async () => {
    while (handled < messages) {
      const received = await timed(run, () => client.receive(queueUrl, waitSeconds));
      if (received.length > 0) cameMs = performance.now();
      else if (performance.now() - cameMs > STALLED_MS)
        throw new Error(`only ${handled} of ${messages} messages came`);
      else continue;
      const nowMs = preciseNow();
      handled += received.length;
      for (const { body } of received) run.endToEndMs.push(nowMs - sentMsOf(body));
      await timed(run, () =>
        client.deleteBatch(
          queueUrl,
          received.map(({ receipt }) => receipt),
        ),
      );
      doneMs = performance.now();
    }
  };
  await Promise.all(Array.from({ length: receivers }, receive));
  if (handled > messages) throw new Error(`${handled} messages came of ${messages}`);
  return doneMs;
}

async function inLanes(lanes: number, times: number, work: () => Promise<void>): Promise<void> {
  let left = times;
  const lane = async () => {
    while (left > 0) {
      left -= 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

async function timed<Result>({ callMs }: SqsRun, call: () => Promise<Result>): Promise<Result> {
  const startMs = performance.now();
  const result = await call();
  callMs.push(performance.now() - startMs);
  return result;
}

function body(): string {
  return JSON.stringify(payload(preciseNow()));
}

function sentMsOf(text: string): number {
  return Number((JSON.parse(text) as Payload).sentMs);
}
