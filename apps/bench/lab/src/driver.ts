import "./bindings.ts";
import { createQueueConsumer } from "@sluice/consumer";
import type { ProducerBroker } from "@sluice/producer";
import { type Payload, payload } from "../../src/workload/payload.ts";
import { inParallel } from "../../src/workload/ways.ts";
import bench from "../../worker/src/index.ts";
import type { Bill } from "./bill.ts";
import type { Answers, Behaviour, HandledCounts, LabCommand } from "./commands.ts";

// The bench Worker, with the commands of the other measurements: sending without waiting, retrying, reading the bill.

const QUEUE = "bench";

interface Env {
  BENCH: Queue<Payload>;
  BENCH_NOW: Queue<Payload>;
  SELF: Fetcher;
  SLUICE_QUEUES: { getByName(queue: string): ProducerBroker & { bill(queue: string): Promise<Bill> } };
}

type FillCommand = Extract<LabCommand, { kind: "fill" }>;

const NOTHING_HANDLED: HandledCounts = { delivered: 0, acknowledged: 0, batches: 0, firstMs: 0, lastMs: 0 };

let behaviour: Behaviour = { kind: "acknowledge" };
let handled = NOTHING_HANDLED;
let position = 0;

const handlers = {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (request.method !== "POST") return bench.fetch(request as never, env);
    return Response.json(await obey((await request.json()) as LabCommand, env));
  },

  async queue(batch: MessageBatch<Payload>): Promise<void> {
    await bench.queue(batch);
    const nowMs = Date.now();
    const retried = retrySome(batch.messages);
    handled = {
      delivered: handled.delivered + batch.messages.length,
      acknowledged: handled.acknowledged + batch.messages.length - retried,
      batches: handled.batches + 1,
      firstMs: handled.firstMs === 0 ? nowMs : handled.firstMs,
      lastMs: nowMs,
    };
  },
};

export default handlers;
export const SluiceQueueConsumer = createQueueConsumer(handlers, { waitForWaitUntil: true });

/** Retries every n-th message that is delivered for the first time. Returns the number of retried messages. */
function retrySome(messages: readonly Message<Payload>[]): number {
  if (behaviour.kind === "acknowledge") return 0;
  const { every, delaySeconds } = behaviour;
  const fresh = messages.filter(({ attempts }) => attempts === 1);
  const chosen = fresh.filter((_, i) => (position + i + 1) % every === 0);
  position += fresh.length;
  for (const message of chosen) message.retry({ delaySeconds });
  return chosen.length;
}

async function obey(command: LabCommand, env: Env): Promise<Answers[LabCommand["kind"]]> {
  const broker = env.SLUICE_QUEUES.getByName(QUEUE);
  switch (command.kind) {
    case "fill":
      return timed(() => fill(env, command));
    case "send":
      return timed(() => sendFromRequests(env, command.requests, command.messages));
    case "behave":
      behaviour = command.behaviour;
      handled = NOTHING_HANDLED;
      position = 0;
      return {};
    case "handled":
      return handled;
    case "wake":
      return timed(() => broker.metrics(QUEUE));
    case "bill":
      return broker.bill(QUEUE);
  }
}

async function timed(work: () => Promise<unknown>): Promise<{ tookMs: number }> {
  const startMs = Date.now();
  await work();
  return { tookMs: Date.now() - startMs };
}

/** Time over which delayed messages become due, in seconds; neighbours in different seconds. */
const DELAYS_SPREAD_SECONDS = 600;

function fill(env: Env, { messages, atOnce, batchSize = 100, delaySeconds }: FillCommand): Promise<void> {
  let sent = 0;
  const next = (): MessageSendRequest<Payload> => {
    sent += 1;
    const body = payload(Date.now());
    return delaySeconds === 0
      ? { body }
      : { body, delaySeconds: delaySeconds + (sent % DELAYS_SPREAD_SECONDS) };
  };
  const batch = () => Array.from({ length: batchSize }, next);
  return inParallel(atOnce, messages / batchSize, () => env.BENCH.sendBatch(batch()));
}

async function sendFromRequests(env: Env, requests: number, messages: number): Promise<void> {
  const share = Math.ceil(messages / requests);
  await Promise.all(
    Array.from({ length: requests }, async () => {
      const response = await env.SELF.fetch(`http://self/?sender=${share}`);
      await response.arrayBuffer();
    }),
  );
}
