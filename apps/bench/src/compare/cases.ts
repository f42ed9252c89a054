import type { Way } from "../workload/ways.ts";

/** Workload by which systems are compared. */
export interface Case<W extends string = Way> {
  readonly way: W;
  readonly title: string;
  /** Messages of the first run, which warms up and shows how many messages make a run of the wanted length. */
  readonly warmUpMessages: number;
  /** Messages of a run are a multiple of this: 100 where batches must be full, since others wait for their timeout. */
  readonly step: number;
  /** Rate that the chart shows; absent where it shows none. */
  readonly shown?: "sent" | "handled";
}

export const CASES: readonly Case[] = [
  { way: "single", title: "send, one by one", warmUpMessages: 500, step: 100, shown: "sent" },
  { way: "concurrent50", title: "send, 50 at once", warmUpMessages: 2_000, step: 100, shown: "sent" },
  { way: "concurrent500", title: "send, 500 at once", warmUpMessages: 5_000, step: 100 },
  {
    way: "requests50",
    title: "send, from 50 requests at once",
    warmUpMessages: 2_000,
    step: 100,
    shown: "sent",
  },
  { way: "batch100", title: "batches of 100, one by one", warmUpMessages: 5_000, step: 100, shown: "sent" },
  {
    way: "burst",
    title: "send -> handled: batches of 100, 10 at once",
    warmUpMessages: 10_000,
    step: 100,
    shown: "handled",
  },
  { way: "idle", title: "send -> handled: one message at a time", warmUpMessages: 10, step: 10 },
];

/** Most messages of a run; more would only fill memory with backlog. */
export const RUN_MESSAGES_MAX = 400_000;

/** Number of messages for a run of about `seconds`: a multiple of `step`, at least one. */
export function messagesFor(seconds: number, handledPerSecond: number, step: number): number {
  const steps = Math.round((seconds * handledPerSecond) / step);
  return Math.min(RUN_MESSAGES_MAX, step * Math.max(1, steps));
}
