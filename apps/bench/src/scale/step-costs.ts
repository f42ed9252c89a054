import type { Costs } from "./costs.ts";
import type { Sends } from "./poster.ts";

type Counted = Pick<Sends, "calls" | "messages" | "commits" | "rowsWritten" | "tookMs" | "cpuMs">;

/** Sends in three ways: one call with one message at a time, many calls at a time, one call with many messages. */
export interface StepRuns {
  readonly single: Counted;
  readonly atOnce: Counted;
  readonly together: Counted;
}

/** Costs of the steps of a send, with the time that a commit waits for the disk. */
export interface StepCosts extends Costs {
  /** Time of a commit in which the process does nothing, in ms: it waits for the disk. */
  readonly diskMs: number;
}

/**
 * Computes the CPU time of a call, a message and a commit from that of three ways of sending. The time of a call is
 * `callMs + messageMs * (messages of a call) + commitMs * (commits of a call)` in each: three equations. The sender's
 * part of a call is in it, so the object's own share is smaller.
 *
 * @throws Error where the CPU time of a process cannot be read.
 */
export function stepCosts({ single, atOnce, together }: StepRuns): StepCosts {
  const [one, many, large] = [single, atOnce, together].map(cpuOfCall) as [number, number, number];
  const messages = (run: Counted) => run.messages / run.calls;
  const commits = (run: Counted) => run.commits / run.calls;
  // A difference that is smaller than the noise counts as none.
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

/** Durable messages a second of a shard that has a core, with calls of one message that share commits. Computed. */
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
