import type { Clock } from "../src/platform/clock.ts";
import type { QueueLog } from "../src/platform/log.ts";
import type { QueueCore } from "../src/queue/queue-core.ts";
import { MemoryStore } from "./memory-store.ts";

/** Makes a call one that leaves an object. */
export type Gated = <Args extends unknown[], Result>(
  call: (...args: Args) => Promise<Result>,
) => (...args: Args) => Promise<Result>;

/** From its start to its crash, a queue's object. What an earlier one still does reaches nobody. */
export interface Life {
  readonly core: QueueCore;
  alive: boolean;
}

export interface QueueObject {
  store: MemoryStore;
  alarmAtMs: number | null;
  /** Whether the alarm has rung and is not handled yet: it rings again if the object ends before. */
  isRinging: boolean;
  life: Life | null;
  /** Whether its last life was ended on purpose. */
  wasEndPlanned: boolean;
}

/** Makes an object that has not been called yet. */
export function newObject(): QueueObject {
  return { store: new MemoryStore(), alarmAtMs: null, isRinging: false, life: null, wasEndPlanned: false };
}

/** Makes a call out of an object: held back by its output gate, and of no effect on an object that is gone. */
export async function outOf<Result>(
  store: MemoryStore,
  alive: () => boolean,
  call: () => Promise<Result>,
): Promise<Result> {
  await store.synced();
  if (!alive()) return new Promise(() => {});
  try {
    return await call();
  } finally {
    if (!alive()) await new Promise(() => {});
  }
}

/** Copies bytes as a call does. Throws for a view, which takes its whole buffer along: megabytes for a message. */
export function sent(packed: Uint8Array): Uint8Array {
  if (packed.byteLength !== packed.buffer.byteLength) throw new Error("a view was given to a call");
  return packed.slice();
}

/** Notes that a log takes. */
interface Notes {
  readonly handled: [queue: string, acked: number, total: number][];
  readonly tookMs: number[];
  readonly lines: string[];
}

/** Makes the log of an object, which notes what it is told while the object lives. */
export function notedLog({ handled, tookMs, lines }: Notes, alive: () => boolean): QueueLog {
  const note = (level: string) => (text: string) => {
    if (alive()) lines.push(`${level}: ${text}`);
  };
  return {
    handled: (queue, acked, total, ms) => {
      handled.push([queue, acked, total]);
      tookMs.push(ms);
    },
    message: (_queue, fate, _reason, line) => note(fate === "dropped" ? "warn" : "info")(line()),
    info: note("info"),
    warn: note("warn"),
    error: note("error"),
  };
}

interface Time {
  nowMs: number;
  readonly movedMs: number;
  readonly ticks: boolean;
}

/** Makes the clock of a queue. It knows of the moves since it was made. */
export function clockOf(time: Time): Clock {
  const before = time.movedMs;
  return {
    now: () => (time.ticks ? time.nowMs++ : time.nowMs),
    get movedMs() {
      return time.movedMs - before;
    },
  };
}
