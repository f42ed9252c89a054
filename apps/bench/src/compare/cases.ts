import type { Way } from "../workload/ways.ts";

/** What is compared. */
export interface Case {
  readonly way: Way;
  readonly title: string;
  /** Messages of the first run, which only warms up and tells how many make a run of the wanted length. */
  readonly warmUpMessages: number;
}

export const CASES: readonly Case[] = [
  { way: "single", title: "send, one by one", warmUpMessages: 500 },
  { way: "concurrent50", title: "send, 50 at once", warmUpMessages: 2_000 },
  { way: "concurrent500", title: "send, 500 at once", warmUpMessages: 5_000 },
  { way: "requests50", title: "send, from 50 requests at once", warmUpMessages: 2_000 },
  { way: "batch100", title: "batches of 100, one by one", warmUpMessages: 5_000 },
  { way: "burst", title: "send -> handled: batches of 100, 10 at once", warmUpMessages: 10_000 },
  { way: "idle", title: "send -> handled: one message at a time", warmUpMessages: 100 },
];

/** Fewest and most messages of a run; more would only fill memory with backlog. */
export const RUN_MESSAGES_MIN = 100;
export const RUN_MESSAGES_MAX = 400_000;

/** Messages that make a run of about `seconds`: a multiple of 100, so that every batch is full. */
export function messagesFor(seconds: number, handledPerSecond: number): number {
  const hundreds = Math.round((seconds * handledPerSecond) / 100);
  return Math.min(RUN_MESSAGES_MAX, Math.max(RUN_MESSAGES_MIN, 100 * hundreds));
}
