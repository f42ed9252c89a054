import type { Backlog } from "./measure-backlog.ts";

/** What is measured, and the messages of a sample. */
export const BACKLOGS: readonly Backlog[] = [
  { kind: "ready", messages: 0 },
  { kind: "ready", messages: 1_000 },
  { kind: "ready", messages: 100_000 },
  { kind: "ready", messages: 1_000_000 },
  { kind: "delayed", messages: 10_000 },
  { kind: "retrying", messages: 10_000 },
];
export const SAMPLE_MESSAGES = 20_000;

export const QUICK_BACKLOGS: readonly Backlog[] = [
  { kind: "ready", messages: 0 },
  { kind: "ready", messages: 10_000 },
  { kind: "delayed", messages: 1_000 },
  { kind: "retrying", messages: 1_000 },
];
export const QUICK_SAMPLE_MESSAGES = 2_000;
