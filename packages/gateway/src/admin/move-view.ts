import type { MoveTask } from "@sluice/protocol";
import { timeOf } from "./time.ts";

/** A task that moves messages out of a queue, as the admin API shows it. */
export interface MoveView extends Pick<MoveTask, "status" | "moved" | "toMove" | "failure"> {
  /** The queue that takes the messages; `null` gives each back to the queue that it was dead-lettered from. */
  readonly to: string | null;
  readonly startedAt: string;
}

export function moveView({ status, moved, toMove, failure, target, startedMs }: MoveTask): MoveView {
  return { status, to: target, moved, toMove, failure, startedAt: timeOf(startedMs) };
}
