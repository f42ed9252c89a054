import { type Latency, latency } from "../measure/statistics.ts";
import type { Handled } from "./handled.ts";
import { payload } from "./payload.ts";
import { SENDERS, type Stopwatch, type Target, type Way } from "./ways.ts";

/** Measurements of one run. */
export interface Measured {
  readonly messages: number;
  /** Acknowledged messages a second, from the first send to the last acknowledgement. */
  readonly sentPerSecond: number;
  /** Handled messages a second, from the first send to the last handled message; `NaN` if none is handled. */
  readonly handledPerSecond: number;
  /** Latency of one call: a send, or a batch of 100. */
  readonly call: Latency;
  /** Time from the send of a message to its handler; `NaN` if none is handled. */
  readonly endToEnd: Latency;
}

/** Returns the main rate of a run: handled messages a second if any are handled, else sent ones. */
export function rateOf({
  sentPerSecond,
  handledPerSecond,
}: Pick<Measured, "sentPerSecond" | "handledPerSecond">): number {
  return Number.isNaN(handledPerSecond) ? sentPerSecond : handledPerSecond;
}

/**
 * Makes one run: sends `messages` in one way and waits until all of them are handled.
 *
 * @param messages a multiple of 100, so that every batch is full and none waits for its timeout.
 * @param now clock in ms since 1970.
 */
export async function runWay(
  way: Way,
  messages: number,
  target: Target,
  handled: Handled,
  now: () => number,
): Promise<Measured> {
  handled.reset();
  const callMs: number[] = [];
  const watch: Stopwatch = {
    async time(call) {
      const startMs = now();
      await call();
      callMs.push(now() - startMs);
    },
    note(elsewhereMs) {
      for (const ms of elsewhereMs) callMs.push(ms);
    },
  };
  const startMs = now();
  await SENDERS[way](target, messages, () => payload(now()), watch);
  const sentMs = now();
  await handled.reached(messages);
  const doneMs = now();
  return {
    messages,
    sentPerSecond: perSecond(messages, sentMs - startMs),
    handledPerSecond: perSecond(messages, doneMs - startMs),
    call: latency(callMs),
    endToEnd: latency(handled.endToEndMs),
  };
}

export function perSecond(count: number, ms: number): number {
  return (1000 * count) / Math.max(ms, 1);
}
