import { LEASE_GRACE_MS, type OutboxItem } from "@sluice/broker/testing";
import type { QueueRules } from "@sluice/engine";
import type { MoveTask, QueueDefinition, QueueRecord } from "@sluice/protocol";
import type { AnswerVerdict, DeliveryRecord } from "./delivery-record.ts";
import { type Message, type ReceiptUse, usesFor } from "./message.ts";
import { type Receiving, repeatedEnds } from "./named-receives.ts";
import { unnamedDelayMs } from "./retry-delay.ts";
import { tagsOf } from "./tags.ts";
import { GONE, type Leased, type Segment, sameView, type View } from "./view.ts";

/** Facts of a commit that the meaning of a change depends on. */
export interface CommitMoment {
  readonly atMs: number;
  readonly epoch: number;
  /** Whether a delivery that the last epoch's end has cut off counts as an attempt: not if the end was planned. */
  readonly cutOffCounts: boolean;
  /** Delay of messages whose cut-off delivery counts, in ms. */
  readonly cutOffDelayMs: number;
  /** Time until which the queue's Worker has to wait for other Workers, in ms. */
  readonly heldUntilMs: number;
  readonly version: number;
  readonly queue: string;
  readonly rules: QueueRules;
  /** Definition of the queue when the commit was written. */
  readonly definition: QueueDefinition;
  /** The directory's record that the queue goes by; `null` without a directory, or if there is no such queue. */
  readonly registered: QueueRecord | null;
  /** Whether the queue exists. */
  readonly isThere: boolean;
  /** Most receives with a visibility timeout of 0 that the commit can hold: they leave a message where it is. */
  readonly visibleReceivesMax: number;
  /** Whether leases can have expired before other work of the same turn: a move task expires them first. */
  readonly mayExpireFirst: boolean;
  /** Receives that were under way when it was written. */
  readonly receiving: readonly Receiving[];
}

/** Commit with the rows that it wrote, read back. */
export interface CommitRecord extends CommitMoment {
  readonly segments: readonly {
    readonly id: number;
    /** Restored from the written row; `null` if it was deleted. */
    readonly segment: Segment | null;
    readonly payload: Uint8Array | null;
  }[];
  readonly outboxIn: readonly OutboxItem[];
  readonly outboxOut: readonly number[];
  /** The queue's move tasks if they were written, newest first. */
  readonly moveTasks: readonly MoveTask[] | null;
}

/** Why a lease ended. */
export type Ending =
  | { readonly kind: "acked" }
  /** Another attempt, or death if there is none left. */
  | { readonly kind: "failed"; readonly dueMs: number; readonly why: "retry" | "expiry" | "restart" }
  | { readonly kind: "released"; readonly dueMs: number }
  /** Dead although attempts are left. */
  | { readonly kind: "dead" }
  /** The message's retention ended while a receive held it. */
  | { readonly kind: "expired" }
  /** A visibility timeout is over. */
  | { readonly kind: "visible"; readonly dueMs: number }
  /**
   * A changed visibility timeout: the lease `leaseId` has the message until `untilMs`, whichever lease had it before.
   */
  | { readonly kind: "held"; readonly leaseId: number; readonly untilMs: number }
  /** A repeated receive: the holder was given the message again by the attempt id. */
  | { readonly kind: "repeated"; readonly untilMs: number };

/** Effect of a commit on one message. */
export interface Change {
  readonly message: Message;
  readonly before: View;
  /** Why its earlier lease ended; `null` when nothing has ended it, or it had none. */
  readonly ending: Ending | null;
  /** Expected state after `ending`, before anything else happened to it in the same commit. */
  readonly between: View;
  readonly after: View;
  readonly commit: CommitMoment;
}

/** Derives a commit's effect on a message from the requests and answers that came before it, without the engine. */
export function changeOf(
  message: Message,
  after: View,
  delivery: DeliveryRecord | undefined,
  commit: CommitRecord,
): Change {
  const before = message.view;
  const early = endingOfEarly(message, after, commit);
  if (early !== null) {
    const between = afterEnding(before, early, message, commit);
    return { message, before, ending: early, between, after, commit };
  }
  const byReceipt = endingByReceipt(message, commit);
  if (byReceipt !== null) return { message, before, ...byReceipt, after, commit };
  const ending = endingOf(message, after, delivery, commit);
  return { message, before, ending, between: afterEnding(before, ending, message, commit), after, commit };
}

/** Whether the message was leased anew in the commit. */
export function wasLeased({ between, after }: Change): boolean {
  return after.status === "leased" && (between.status !== "leased" || between.leaseId !== after.leaseId);
}

/** Deliveries of the message in the commit, without pulls: receives that leave it visible can make several. */
export function timesDelivered({ between, after }: Change): number {
  if (between.status === "gone" || after.status === "gone") return 0;
  if (after.status === "leased" && after.kind === "pull") return 0;
  return Math.max(0, after.attempts - between.attempts);
}

/**
 * Due time of a message when it was leased, in ms: that of its place before the commit, or the one to which a receive
 * of the same commit that left it visible had returned it. `null` if it was not waiting.
 */
export function leasedFrom(change: Change): number | null {
  const { message, between, commit } = change;
  if (between.status !== "waiting") return null;
  return timesDelivered(change) > 1 ? visibleFrom(message, commit.atMs, commit) : between.atMs;
}

/** Whether a queue's messages are notifications of a topic: no retry outlives the queue's retention. */
export function isNotification({ consumer }: QueueDefinition): boolean {
  return consumer?.type === "http_push" && consumer.settings.format === "sns";
}

/** Ending of a lease that expired before its holder's request in the same turn; `null` if `after` shows otherwise. */
function endingOfEarly(message: Message, after: View, commit: CommitRecord): Ending | null {
  const { view } = message;
  if (!commit.mayExpireFirst || view.status !== "leased" || view.atMs > commit.atMs) return null;
  if (view.kind === "push" && message.leasedInEpoch !== commit.epoch) return null;
  const ending = endingByTime(message, view, commit);
  return explains(ending, message, after, commit) ? ending : null;
}

/** Whether a message can have gone from the state after `ending` to `after` within the commit. */
function explains(ending: Ending | null, message: Message, after: View, commit: CommitRecord): boolean {
  const between = afterEnding(message.view, ending, message, commit);
  if (between.status !== "waiting") {
    const isDead = commit.outboxIn.some(({ payload }) => tagsOf(payload).includes(message.tag));
    return after.status === "gone" && isDead;
  }
  if (after.status === "gone") return false;
  const isLeft = after.status === "waiting" && sameView(between, after);
  const isDue = between.atMs <= commit.atMs;
  return isLeft || (isDue && after.status === "leased" && after.attempts === between.attempts + 1);
}

function endingOf(
  message: Message,
  after: View,
  delivery: DeliveryRecord | undefined,
  commit: CommitRecord,
): Ending | null {
  const { view } = message;
  const { atMs, epoch, version } = commit;
  if (view.status !== "leased") return null;
  if (view.kind === "push" && message.leasedInEpoch !== epoch) {
    return commit.cutOffCounts
      ? { kind: "failed", dueMs: atMs + commit.cutOffDelayMs, why: "restart" }
      : { kind: "released", dueMs: atMs };
  }
  const verdict = delivery?.verdictFor(message, epoch, version) ?? null;
  if (verdict?.kind === "overdue") {
    const byClock = endingBy({ kind: "retry", delayMs: verdict.delayMs }, message, view, after, commit);
    if (explains(byClock, message, after, commit)) return byClock;
    return endingBy(verdict.answer, message, view, after, commit);
  }
  if (verdict !== null) return endingBy(verdict, message, view, after, commit);
  return (
    endingOfOverdue(message, view, after, delivery, commit) ??
    endingByTime(message, view, commit) ??
    endingByRepeat(message, view, after, commit)
  );
}

function endingByRepeat(message: Message, view: Leased, after: View, commit: CommitMoment): Ending | null {
  if (after.status !== "leased" || after.leaseId !== view.leaseId) return null;
  const isExpected = repeatedEnds(message, view, commit).includes(after.atMs);
  return isExpected ? { kind: "repeated", untilMs: after.atMs } : null;
}

/**
 * Ending of a message's state by the uses of its receipts, one after the other; `null` if they change nothing. Any
 * receipt counts, but on a FIFO queue only the latest one, in time (spec sqs 3.3, 3.4).
 */
export function endingByReceipt(
  message: Message,
  commit: CommitMoment,
): (Pick<Change, "between"> & { readonly ending: Ending }) | null {
  const { atMs, definition } = commit;
  let view = message.view;
  let ending: Ending | null = null;
  for (const { leaseId, what } of usesFor(message, commit)) {
    const isHolder = view.status === "leased" && view.leaseId === leaseId;
    const isInTime = view.status === "leased" && isHolder && view.atMs > atMs;
    if (definition.fifo !== undefined && what.kind !== "release" && !isInTime) continue;
    const next = endingByUse(leaseId, what, isHolder, message, commit);
    if (next === null) continue;
    ending = next;
    view = afterEnding(view, next, message, commit);
    if (view.status === "gone") break;
  }
  return ending && { ending, between: view };
}

function endingByUse(
  leaseId: number,
  what: ReceiptUse["what"],
  isHolder: boolean,
  message: Message,
  commit: CommitMoment,
): Ending | null {
  const { atMs } = commit;
  switch (what.kind) {
    case "delete":
      return { kind: "acked" };
    case "release":
      return isHolder ? { kind: "released", dueMs: atMs } : null;
    case "changeVisibility": {
      const isOver = what.forMs > 0 && atMs + what.forMs > what.notAfterMs;
      if (atMs >= what.ifBeforeMs || isOver) return null;
      if (what.forMs === 0) return { kind: "visible", dueMs: visibleFrom(message, atMs, commit) };
      return { kind: "held", leaseId, untilMs: atMs + what.forMs };
    }
  }
}

function endingBy(
  verdict: AnswerVerdict,
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

/** Ending of a request that takes longer than any delivery may: the queue itself makes it a failure. */
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
  return { kind: "failed", dueMs: atMs + delayMs, why: "expiry" };
}

/**
 * Start of a message's retention in a queue that takes it in, in ms. A message that names the queue it comes from keeps
 * the time of its send, but on a FIFO queue retention starts anew (spec sqs 6.2).
 */
export function retentionStartMs(
  { namesSource, sentMs }: Pick<Message, "namesSource" | "sentMs">,
  { atMs, definition }: Pick<CommitMoment, "atMs" | "definition">,
): number {
  return namesSource && definition.fifo === undefined ? Math.min(atMs, sentMs) : atMs;
}

/** Due time of a message that is visible again, in ms: on a standard queue it goes back to its place (spec sqs 3.6). */
export function visibleFrom({ firstDueMs }: Message, sinceMs: number, { definition }: CommitMoment): number {
  return definition.fifo === undefined ? firstDueMs : sinceMs;
}

/** Whether the next attempt would come when a notification's retention is over (spec sns-delivery 11.2). */
function outlives({ sentMs }: Message, delayMs: number, { atMs, definition }: CommitMoment): boolean {
  return isNotification(definition) && atMs + delayMs > sentMs + 1_000 * definition.messageRetentionSeconds;
}

/** State of a message after an ending. */
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
    case "repeated":
      return before.status === "leased" ? { ...before, atMs: ending.untilMs } : before;
    case "held": {
      const { leaseId, untilMs } = ending;
      // A receipt means at least one delivery, even if that was released.
      const attempts = Math.max(1, before.attempts);
      return { status: "leased", kind: "receive", attempts, leaseId, atMs: untilMs };
    }
  }
}
