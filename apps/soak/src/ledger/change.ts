import type { OutboxItem } from "@sluice/broker/testing";
import type { QueueRules } from "@sluice/engine";
import type { DeliveryRecord } from "./delivery-record.ts";
import type { Message } from "./message.ts";
import { GONE, type Segment, type View } from "./view.ts";

/** A commit, as far as the meaning of a change depends on it. */
export interface CommitMoment {
  readonly atMs: number;
  readonly life: number;
  readonly version: number;
  readonly rules: QueueRules;
  /** Whether delivery was paused when it was written. */
  readonly isPaused: boolean;
}

/** What a commit wrote, read back. */
export interface CommitRecord extends CommitMoment {
  readonly segments: readonly {
    readonly id: number;
    /** Restored from the written row; `null` if it was deleted. */
    readonly segment: Segment | null;
    readonly payload: Uint8Array | null;
  }[];
  readonly outboxIn: readonly OutboxItem[];
  readonly outboxOut: readonly number[];
}

/** Why a lease ended. */
export type Ending =
  | { readonly kind: "acked" }
  /** Another attempt, or death if there is none left. */
  | { readonly kind: "failed"; readonly dueMs: number; readonly why: "retry" | "lapse" | "restart" }
  | { readonly kind: "released"; readonly dueMs: number };

/** What a commit did to one message. */
export interface Change {
  readonly message: Message;
  readonly before: View;
  /** Why the lease that it had before ended; `null` when nothing has ended it, or it had none. */
  readonly ending: Ending | null;
  /** Where it has to stand after that, before anything else happened to it in the same commit. */
  readonly between: View;
  readonly after: View;
  readonly commit: CommitMoment;
}

/** Says what a commit did to a message, by what had come in before it: independent of what the engine thinks. */
export function changeOf(
  message: Message,
  after: View,
  delivery: DeliveryRecord | undefined,
  commit: CommitMoment,
): Change {
  const before = message.view;
  const ending = endingOf(message, delivery, commit);
  return { message, before, ending, between: afterEnding(before, ending, message, commit), after, commit };
}

/** Whether the message was leased anew in the commit. */
export function wasLeased({ before, after }: Change): boolean {
  return after.status === "leased" && (before.status !== "leased" || before.leaseId !== after.leaseId);
}

function endingOf(
  message: Message,
  delivery: DeliveryRecord | undefined,
  { atMs, life, version, rules }: CommitMoment,
): Ending | null {
  const { view } = message;
  if (view.status !== "leased") return null;
  if (view.kind === "push" && message.leasedInLife !== life) {
    return { kind: "failed", dueMs: atMs, why: "restart" };
  }
  const verdict = delivery?.verdictFor(message, life, version) ?? null;
  if (verdict !== null) {
    if (verdict.kind === "ack") return { kind: "acked" };
    if (verdict.kind === "release") return { kind: "released", dueMs: atMs };
    return { kind: "failed", dueMs: atMs + verdict.delayMs, why: "retry" };
  }
  if (view.atMs > atMs) return null;
  return { kind: "failed", dueMs: atMs + (view.kind === "push" ? rules.retryDelayMs : 0), why: "lapse" };
}

function afterEnding(before: View, ending: Ending | null, message: Message, { rules }: CommitMoment): View {
  if (ending === null || before.status === "gone") return before;
  switch (ending.kind) {
    case "acked":
      return GONE;
    case "failed":
      if (before.attempts > rules.maxRetries) return GONE;
      return { status: "waiting", attempts: before.attempts, atMs: ending.dueMs };
    case "released": {
      const attempts = before.attempts - 1;
      return { status: "waiting", attempts, atMs: attempts === 0 ? message.firstDueMs : ending.dueMs };
    }
  }
}
