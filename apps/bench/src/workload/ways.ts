import type { Payload } from "./payload.ts";

/** Ways of sending messages, by the same code for every system. */
export type Way = "single" | "concurrent50" | "concurrent500" | "requests50" | "batch100" | "burst" | "idle";

/** A system as the workload sees it. */
export interface Target {
  /** Resolves when the system has acknowledged the message. */
  send(payload: Payload): Promise<unknown>;
  /** Sends 100 messages in the fastest way that the system's interface has. */
  sendHundred(payloads: readonly Payload[]): Promise<unknown>;
  /**
   * Sends messages one by one, from `requests` requests at once. In a system without requests, loops take their place.
   *
   * @returns time of each call, in ms.
   */
  sendFromRequests(requests: number, messages: number): Promise<readonly number[]>;
  /** Sends one message to a queue without batches, and resolves when it is handled. */
  sendAndAwait(payload: Payload): Promise<unknown>;
}

export const BATCH = 100;

/** Times calls to a target. */
export interface Stopwatch {
  /** Makes a call and enters its time. */
  time(call: () => Promise<unknown>): Promise<void>;
  /** Enters times of calls that were made elsewhere. */
  note(callMs: readonly number[]): void;
}

/** Sends `messages`, a multiple of 100, and resolves when all are acknowledged. */
export type Sender = (
  target: Target,
  messages: number,
  next: () => Payload,
  watch: Stopwatch,
) => Promise<void>;

export const SENDERS: Readonly<Record<Way, Sender>> = {
  single: atOnce(1),
  concurrent50: atOnce(50),
  concurrent500: atOnce(500),
  async requests50(target, messages, _next, watch) {
    watch.note(await target.sendFromRequests(50, messages));
  },
  batch100: batchesAtOnce(1),
  burst: batchesAtOnce(10),
  idle: (target, messages, next, watch) =>
    inParallel(1, messages, () => watch.time(() => target.sendAndAwait(next()))),
};

function atOnce(senders: number): Sender {
  return (target, messages, next, watch) =>
    inParallel(senders, messages, () => watch.time(() => target.send(next())));
}

function batchesAtOnce(senders: number): Sender {
  return (target, messages, next, watch) =>
    inParallel(senders, messages / BATCH, () =>
      watch.time(() => target.sendHundred(Array.from({ length: BATCH }, next))),
    );
}

/** Longest time that senders go on without a pause, in ms. */
const BREATH_MS = 5;

/**
 * Calls `send` `times` times, at most `senders` at once. Rejects with the first failure.
 *
 * All senders pause for a moment every `BREATH_MS`. workerd runs the calls of a request that never pauses before all
 * other work of its process, HTTP and deliveries included: the consumer would stand still until the last send.
 */
export async function inParallel(
  senders: number,
  times: number,
  send: () => Promise<unknown>,
): Promise<void> {
  let left = times;
  let lastBreathMs = Date.now();
  let breath: Promise<void> | null = null;
  const breathe = async () => {
    await new Promise((resolve) => setTimeout(resolve, 0));
    lastBreathMs = Date.now();
    breath = null;
  };
  const sender = async () => {
    while (left > 0) {
      left -= 1;
      if (breath === null && Date.now() - lastBreathMs >= BREATH_MS) breath = breathe();
      if (breath !== null) await breath;
      await send();
    }
  };
  await Promise.all(Array.from({ length: Math.min(senders, times) }, sender));
}

/** Sends messages one by one from `loops` loops at once. Returns the time of each call, in ms. */
export async function sendFromLoops(
  loops: number,
  messages: number,
  send: () => Promise<unknown>,
  now: () => number,
): Promise<number[]> {
  const callMs: number[] = [];
  await inParallel(loops, messages, async () => {
    const startMs = now();
    await send();
    callMs.push(now() - startMs);
  });
  return callMs;
}
