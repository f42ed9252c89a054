import { setTimeout as sleep } from "node:timers/promises";

/** Number of loops that move messages at the same time. */
const LANES = 4;
/** Wait after the source had no messages, in ms. */
const EMPTY_WAIT_MS = 1_000;

/** Operations and limits of a move from one queue to another. */
export interface Pumped<Batch extends readonly unknown[]> {
  /** Leases messages of the source. Empty where there are none now. */
  take(): Promise<Batch>;
  /** Sends messages to the target and deletes them at the source. @returns whether any could be moved. */
  forward(batch: Batch, lane: number): Promise<boolean>;
  /** Whether the source counts no message that may still come. */
  isEmpty(): Promise<boolean>;
  /** Time in ms without a moved message after which the source counts as empty, whatever `isEmpty` returns. */
  readonly quietMs: number;
  /** Whether to go on when the source is empty. */
  readonly follow: boolean;
  /** Ends the loops, each after the messages that it has taken. */
  readonly stop: AbortSignal;
  /** Default: 4. */
  readonly lanes?: number;
  /** Default: the system's clock. */
  readonly clock?: Clock;
}

/** A clock in ms, whose `wait` ends early where the work is stopped. */
export interface Clock {
  now(): number;
  wait(ms: number): Promise<void>;
}

/**
 * Moves messages until the source is empty, or until it is stopped. Several loops, the lanes, take and forward at the
 * same time. When a lane fails, the others end after the messages that they have taken, and the failure is thrown.
 */
export async function pump<Batch extends readonly unknown[]>(pumped: Pumped<Batch>): Promise<void> {
  const { quietMs, follow, lanes = LANES, stop, clock = systemClock(stop) } = pumped;
  let lastMs = clock.now();
  let hasFailed = false;
  const run = async (lane: number) => {
    while (!stop.aborted && !hasFailed) {
      const batch = await pumped.take();
      if (batch.length > 0) {
        if (await pumped.forward(batch, lane)) lastMs = clock.now();
        continue;
      }
      if (!follow && (clock.now() - lastMs >= quietMs || (await pumped.isEmpty()))) return;
      await clock.wait(EMPTY_WAIT_MS);
    }
  };
  const ends = await Promise.allSettled(
    Array.from({ length: lanes }, (_, lane) =>
      run(lane).catch((error: unknown) => {
        hasFailed = true;
        throw error;
      }),
    ),
  );
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

export function systemClock(stop: AbortSignal): Clock {
  return {
    now: () => Date.now(),
    wait: (ms: number) => sleep(ms, undefined, { signal: stop }).catch(() => {}),
  };
}
