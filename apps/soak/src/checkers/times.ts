import { type CommitRecord, wasLeased } from "../ledger/change.ts";
import type { Message } from "../ledger/message.ts";
import { runOfTag } from "../ledger/tasks.ts";
import type { Checker } from "./checker.ts";

/** A message waits exactly as long as its send or its retry says, and is not leased before. */
export const dueTime: Checker = {
  property: "due time",

  accepted({ world, index }, message, { record }) {
    const { tag, acceptedMs, firstDueMs } = message;
    const transmission = world.transmissions.get(tag);
    const sent =
      transmission?.queue === index
        ? (transmission.delaySeconds[tag - transmission.firstTag] ?? 0)
        : record.definition.deliveryDelaySeconds;
    const delaySeconds = runOfTag(tag) === null ? sent : 0;
    const startMs = retentionStartMs(message, record);
    if (acceptedMs !== startMs)
      return `message ${tag} is stored as accepted at ${acceptedMs}, not ${startMs}`;
    return firstDueMs === record.atMs + 1_000 * delaySeconds
      ? undefined
      : `message ${tag} is due ${firstDueMs - record.atMs} ms after its send, not ${delaySeconds} s`;
  },

  changed({ ledger }, change, { record }) {
    const { message, between, after } = change;
    if (between.status !== "waiting") return undefined;
    const earlyMs = between.atMs - record.atMs;
    if (after.status === "waiting" && after.attempts > between.attempts) {
      if (earlyMs > 0) return `message ${message.tag} is received ${earlyMs} ms before it is due`;
      // Received and left visible: it is where it was.
      const placeMs = record.definition.fifo === undefined ? message.firstDueMs : record.atMs;
      return after.atMs === placeMs
        ? undefined
        : `message ${message.tag} has lost its place by a receive that hides nothing`;
    }
    // A move task puts back what it could not move: due anew, at the time of the commit.
    const mayBePutBack = ledger.isMoving && earlyMs <= 0;
    if (after.status === "waiting" && after.atMs !== between.atMs) {
      if (mayBePutBack && after.atMs === record.atMs) return undefined;
      return `message ${message.tag} is due ${after.atMs - between.atMs} ms later than it should be`;
    }
    return wasLeased(change) && earlyMs > 0
      ? `message ${message.tag} is leased ${earlyMs} ms before it is due`
      : undefined;
  },
};

/**
 * A message that names the queue it comes from keeps the time of its send as start of its retention. On a FIFO queue
 * retention starts anew (spec sqs 6.2).
 */
function retentionStartMs({ sentMs, namesSource }: Message, { atMs, definition }: CommitRecord): number {
  return namesSource && definition.fifo === undefined ? Math.min(atMs, sentMs) : atMs;
}

/**
 * The time that deadlines go by passes as real time does, within a tenth, wherever the machine's clock is set: to
 * set it neither ends anything early nor delays it.
 */
export const pace: Checker = {
  property: "pace",

  afterEvent({ world }) {
    return world.timeOfDay.fault ?? undefined;
  },
};

/**
 * A message that waits, or is held by a receive, is deleted when its retention has ended: not earlier, and not later
 * than by the next commit.
 */
export const retention: Checker = {
  property: "retention",

  changed(_queue, { message, between, after }, { record }) {
    if (between.status !== "waiting" || after.status !== "gone") return undefined;
    // It died, was moved, or was given up by its worker daemon: the checker "conservation" has looked whether it may.
    const isDaemons = record.definition.consumer !== null && message.firstReceivedMs > 0;
    if (message.departure === "dead" || message.departure === "moved" || isDaemons) return undefined;
    const earlyMs = message.acceptedMs - (record.atMs - record.rules.retentionMs);
    return earlyMs > 0
      ? `message ${message.tag} is deleted ${earlyMs} ms before its retention ends`
      : undefined;
  },

  committed({ ledger }, { record }) {
    const acceptedUntilMs = record.atMs - record.rules.retentionMs;
    for (const { tag, view, acceptedMs } of ledger.present()) {
      const canExpire = view.status === "waiting" || (view.status === "leased" && view.kind === "receive");
      if (canExpire && acceptedMs <= acceptedUntilMs) {
        return `message ${tag} is kept ${acceptedUntilMs - acceptedMs} ms after its retention`;
      }
    }
    return undefined;
  },
};
