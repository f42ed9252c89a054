import type { Costs } from "./costs.ts";
import type { Sends } from "./poster.ts";

type Counted = Pick<Sends, "calls" | "messages" | "commits" | "rowsWritten" | "tookMs" | "cpuMs">;

/** Counts of three ways of sending. */
export interface StepRuns {
  /** One call with one message at a time. */
  readonly single: Counted;
  /** Many calls at a time. */
  readonly atOnce: Counted;
  /** One call with many messages at a time. */
  readonly together: Counted;
}

/** Costs of the steps of a send, with the time that a commit waits for the disk. */
export interface StepCosts extends Costs {
  /** Time in which a commit waits for the disk, in ms. */
  readonly diskMs: number;
}

/**
 * Computes the CPU time of a call, a message and a commit from the counts of three ways of sending. In each of them the
 * time of a call is `callMs + messageMs * (messages of a call) + commitMs * (commits of a call)`: three equations. They
 * include the sender's part, so the object's own time is shorter.
 *
 * @throws Error if the CPU time of a process cannot be read.
 */
export function stepCosts({ single, atOnce, together }: StepRuns): StepCosts {
  const [one, many, large] = [single, atOnce, together].map(cpuOfCall) as [number, number, number];
  const messages = (run: Counted) => run.messages / run.calls;
  const commits = (run: Counted) => run.commits / run.calls;
  // A negative difference is noise, and counts as 0.
  const messageMs = positive((large - one) / (messages(together) - messages(single)));
  const commitMs = positive((one - many) / (commits(single) - commits(atOnce)));
  const callMs = positive(many - messageMs * messages(atOnce) - commitMs * commits(atOnce));
  return {
    callMs,
    messageMs,
    commitMs,
    rowsPerCommit: atOnce.rowsWritten / atOnce.commits,
    diskMs: positive((single.tookMs - (single.cpuMs ?? 0)) / single.commits),
  };
}

/** Computes the durable messages a second of a shard with a core of its own, by calls of one message each. */
export function computedPerSecond(
  { callMs, messageMs, commitMs, diskMs }: StepCosts,
  perCommit: number,
): number {
  return 1_000 / (callMs + messageMs + (commitMs + diskMs) / perCommit);
}

function cpuOfCall({ cpuMs, calls }: Counted): number {
  if (cpuMs === null) throw new Error("the CPU time of a process cannot be read here: there is no /proc");
  return cpuMs / calls;
}

function positive(value: number): number {
  return Math.max(0, value);
}
