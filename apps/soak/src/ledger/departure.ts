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

/**
 * How a message left its queue that a commit has taken out: by what had come in before it, and by what the commit
 * transfers.
 */
export function departureOf(change: Change, commit: CommitRecord): Departure {
  const { before, ending, between, message } = change;
  const { atMs, rules, definition } = commit;
  // Who deletes or hides what was visible in the turn in which a task takes it out may come too late: also what had
  // become so since.
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
  // What was received too often dies at the next receive (spec sqs 6.1).
  if (between.attempts > rules.maxRetries) return "dead";
  // Receives of the same commit that left it visible may have made it too many: the commit itself says so.
  if (between.attempts + commit.visibleReceivesMax > rules.maxRetries && isMoved(message.tag, commit))
    return "dead";
  const daemon = definition.consumer?.type === "http_push" ? definition.consumer.settings.daemon : undefined;
  if (daemon === undefined) return "lost";
  // A worker daemon deletes what was received first too long ago (spec sqsd 5, S9).
  const { firstReceivedMs } = message;
  const isTooOld = firstReceivedMs > 0 && atMs > firstReceivedMs + 1_000 * daemon.retentionSeconds;
  return isTooOld ? "expired" : "lost";
}
