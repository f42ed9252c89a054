import type { OutboxItem } from "@sluice/broker/testing";
import type { Change, CommitRecord } from "./change.ts";
import type { Departure } from "./message.ts";
import { areDeadLetters } from "./moved-messages.ts";
import { isReceived } from "./origin.ts";
import { tagsOf } from "./tags.ts";

/** Whether a move task has taken messages out of their queue. */
export function isByMove({ payload }: OutboxItem, { moveTasks, queue }: CommitRecord): boolean {
  return moveTasks !== null && !areDeadLetters(payload, queue);
}

function isMovedByTask(tag: number, record: CommitRecord): boolean {
  return record.outboxIn.some((item) => isByMove(item, record) && tagsOf(item.payload).includes(tag));
}

function isMoved(tag: number, { outboxIn }: CommitRecord): boolean {
  return outboxIn.some(({ payload }) => tagsOf(payload).includes(tag));
}

/** Derives how a message left its queue with a commit, from earlier requests and from the commit's transfers. */
export function departureOf(change: Change, commit: CommitRecord): Departure {
  const { before, ending, between, message } = change;
  const { atMs, rules, definition } = commit;
  // A delete or a change of visibility may come too late for a visible message that a task takes out in the same turn,
  // also for one that became visible in it.
  const isOver = before.status === "leased" && commit.mayExpireFirst;
  const wasVisible = (before.status === "waiting" || isOver) && before.atMs <= atMs;
  const isOvertaken = wasVisible && (ending?.kind === "acked" || ending?.kind === "held");
  if (isOvertaken && isMovedByTask(message.tag, commit)) return "moved";
  if (between.status === "gone") {
    return ending?.kind === "acked" || ending?.kind === "expired" ? ending.kind : "dead";
  }
  const isVisible = between.status === "waiting" && between.atMs <= atMs;
  if (isVisible && isMovedByTask(message.tag, commit)) return "moved";
  const isExpirable = between.status === "waiting" || between.kind === "receive";
  if (isExpirable && message.acceptedMs + rules.retentionMs <= atMs) return "expired";
  if (between.status !== "waiting" || between.atMs > atMs) return "lost";
  if (!isReceived(definition)) return "lost";
  // A message that was received too often dies at the next receive (spec sqs 6.1).
  if (between.attempts > rules.maxRetries) return "dead";
  // Receives of the same commit that left the message visible may have been too many: its transfer shows that.
  if (between.attempts + commit.visibleReceivesMax > rules.maxRetries && isMoved(message.tag, commit))
    return "dead";
  const daemon = definition.consumer?.type === "http_push" ? definition.consumer.settings.daemon : undefined;
  if (daemon === undefined) return "lost";
  // A worker daemon deletes a message whose first receive is too long ago (spec sqsd 5, S9).
  const { firstReceivedMs } = message;
  const isTooOld = firstReceivedMs > 0 && atMs > firstReceivedMs + 1_000 * daemon.retentionSeconds;
  return isTooOld ? "expired" : "lost";
}
