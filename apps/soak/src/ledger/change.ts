import { LEASE_GRACE_MS, type OutboxItem } from "@sluice/broker/testing";
import type { QueueRules } from "@sluice/engine";
import type { QueueDefinition } from "@sluice/protocol";
import type { DeliveryRecord, Verdict } from "./delivery-record.ts";
import { type Message, usesFor } from "./message.ts";
import { unnamedDelayMs } from "./retry-delay.ts";
import { GONE, type Leased, type Segment, type View } from "./view.ts";

/** A commit, as far as the meaning of a change depends on it. */
export interface CommitMoment {
  readonly atMs: number;
  readonly life: number;
  readonly version: number;
  readonly queue: string;
  readonly rules: QueueRules;
  /** What the queue was set to when it was written. */
  readonly definition: QueueDefinition;
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
  | { readonly kind: "released"; readonly dueMs: number }
  /** Whatever attempts are left. */
  | { readonly kind: "dead" }
  /** Its retention ended while it was being received. */
  | { readonly kind: "expired" }
  /** A visibility timeout is over. */
  | { readonly kind: "visible"; readonly dueMs: number }
  /** It goes on, until another moment. */
  | { readonly kind: "extended"; readonly untilMs: number };

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
  const ending = endingOf(message, after, delivery, commit);
  return { message, before, ending, between: afterEnding(before, ending, message, commit), after, commit };
}

/** Whether the message was leased anew in the commit. */
export function wasLeased({ before, after }: Change): boolean {
  return after.status === "leased" && (before.status !== "leased" || before.leaseId !== after.leaseId);
}

/** Whether a message was sent to a topic: its time is up with its queue's retention, however it goes on. */
export function isNotification({ consumer }: QueueDefinition): boolean {
  return consumer?.type === "http_push" && consumer.settings.format === "sns";
}

function endingOf(
  message: Message,
  after: View,
  delivery: DeliveryRecord | undefined,
  commit: CommitMoment,
): Ending | null {
  const { view } = message;
  const { atMs, life, version } = commit;
  const byReceipt = endingByReceipt(message, commit);
  if (byReceipt !== null || view.status !== "leased") return byReceipt;
  if (view.kind === "push" && message.leasedInLife !== life) {
    return { kind: "failed", dueMs: atMs, why: "restart" };
  }
  const verdict = delivery?.verdictFor(message, life, version) ?? null;
  if (verdict !== null) return endingBy(verdict, message, view, after, commit);
  return endingOfOverdue(message, view, after, delivery, commit) ?? endingByTime(message, view, commit);
}

/** How uses of its receipts end what a message is in. Any receipt counts, but on a FIFO queue only the latest one in time (spec sqs 3.3, 3.4). */
export function endingByReceipt(message: Message, commit: CommitMoment): Ending | null {
  const { view } = message;
  const { atMs, definition } = commit;
  const uses = usesFor(message, commit).filter(
    ({ leaseId }) =>
      definition.fifo === undefined ||
      (view.status === "leased" && view.leaseId === leaseId && view.atMs > atMs),
  );
  if (uses.some(({ what }) => what.kind === "delete")) return { kind: "acked" };
  for (const { leaseId, what } of uses) {
    if (what.kind === "delete" || atMs >= what.ifBeforeMs) continue;
    if (view.status !== "leased" || view.leaseId !== leaseId) continue;
    if (what.forMs > 0) return { kind: "extended", untilMs: atMs + what.forMs };
    return { kind: "visible", dueMs: visibleFrom(message, atMs, commit) };
  }
  return null;
}

function endingBy(
  verdict: Verdict,
  message: Message,
  view: Leased,
  after: View,
  commit: CommitMoment,
): Ending {
  const { atMs } = commit;
  switch (verdict.kind) {
    case "ack":
      return { kind: "acked" };
    case "release":
      return { kind: "released", dueMs: atMs };
    case "giveUp":
      return { kind: "dead" };
    case "retry":
      return outlives(message, verdict.delayMs, commit)
        ? { kind: "dead" }
        : { kind: "failed", dueMs: atMs + verdict.delayMs, why: "retry" };
    case "releaseOrRetry": {
      const leasedAgain = after.status === "leased" && after.leaseId !== view.leaseId ? 1 : 0;
      const isReleased = after.status !== "gone" && after.attempts - leasedAgain < view.attempts;
      return endingBy({ ...verdict, kind: isReleased ? "release" : "retry" }, message, view, after, commit);
    }
  }
}

/** A request that is under way for as long as any delivery may take has failed: no answer says so, the queue does. */
function endingOfOverdue(
  message: Message,
  view: Leased,
  after: View,
  delivery: DeliveryRecord | undefined,
  commit: CommitMoment,
): Ending | null {
  const { atMs, definition, queue } = commit;
  const isOverdue = view.kind === "push" && view.atMs > atMs && view.atMs - LEASE_GRACE_MS <= atMs;
  const isHeld = after.status === "leased" && after.leaseId === view.leaseId;
  if (!isOverdue || isHeld || definition.consumer?.type !== "http_push") return null;
  const delayMs = unnamedDelayMs(definition, queue, delivery?.ids[0] ?? "", view.attempts);
  return endingBy({ kind: "retry", delayMs }, message, view, after, commit);
}

function endingByTime(message: Message, view: Leased, commit: CommitMoment): Ending | null {
  const { atMs, rules, definition, queue } = commit;
  if (view.atMs > atMs) {
    const isOver = view.kind === "receive" && message.acceptedMs + rules.retentionMs <= atMs;
    return isOver ? { kind: "expired" } : null;
  }
  if (view.kind === "receive") return { kind: "visible", dueMs: visibleFrom(message, view.atMs, commit) };
  const place = `${message.segmentId} ${message.index}`;
  const delayMs = view.kind === "push" ? unnamedDelayMs(definition, queue, place, view.attempts) : 0;
  return { kind: "failed", dueMs: atMs + delayMs, why: "lapse" };
}

/** On a standard queue a message that is visible again goes back to its place (spec sqs 3.6). */
function visibleFrom({ firstDueMs }: Message, sinceMs: number, { definition }: CommitMoment): number {
  return definition.fifo === undefined ? firstDueMs : sinceMs;
}

/** Whether the next attempt would come when a notification's life is over (spec sns-delivery 11.2). */
function outlives({ sentMs }: Message, delayMs: number, { atMs, definition }: CommitMoment): boolean {
  return isNotification(definition) && atMs + delayMs > sentMs + 1_000 * definition.messageRetentionSeconds;
}

function afterEnding(before: View, ending: Ending | null, message: Message, { rules }: CommitMoment): View {
  if (ending === null || before.status === "gone") return before;
  switch (ending.kind) {
    case "acked":
    case "dead":
    case "expired":
      return GONE;
    case "failed":
      if (before.attempts > rules.maxRetries) return GONE;
      return { status: "waiting", attempts: before.attempts, atMs: ending.dueMs };
    case "released": {
      const attempts = before.attempts - 1;
      return { status: "waiting", attempts, atMs: attempts === 0 ? message.firstDueMs : ending.dueMs };
    }
    case "visible":
      return { status: "waiting", attempts: before.attempts, atMs: ending.dueMs };
    case "extended":
      return { ...before, atMs: ending.untilMs };
  }
}
