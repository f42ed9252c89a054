import { type CommitRecord, retentionStartMs, visibleFrom, wasLeased } from "../ledger/change.ts";
import { runOfTag } from "../ledger/tasks.ts";
import type { Transmission } from "../ledger/transmission.ts";
import type { Checker } from "./checker.ts";

/** A message waits exactly as long as its send or its retry says, and is not leased before. */
export const dueTime: Checker = {
  property: "due time",

  accepted({ world, index }, message, { record }) {
    const { tag, acceptedMs, firstDueMs } = message;
    const delaySeconds =
      runOfTag(tag) === null ? delayOfSend(tag, world.transmissions.get(tag), index, record) : 0;
    const startMs = retentionStartMs(message, record);
    if (acceptedMs !== startMs)
      return `message ${tag} is stored as accepted at ${acceptedMs}, not ${startMs}`;
    return firstDueMs === record.atMs + 1_000 * delaySeconds
      ? undefined
      : `message ${tag} is due ${firstDueMs - record.atMs} ms after its send, not ${delaySeconds} s`;
  },

  changed({ ledger }, change, { record }) {
    // `between` is the state that the message should be in after its lease has ended, before the rest of the commit.
    const { message, between, after } = change;
    if (between.status !== "waiting") return undefined;
    const earlyMs = between.atMs - record.atMs;
    if (after.status === "waiting" && after.attempts > between.attempts) {
      if (earlyMs > 0) return `message ${message.tag} is received ${earlyMs} ms before it is due`;
      // Received and left visible: the message keeps its place.
      return after.atMs === visibleFrom(message, record.atMs, record)
        ? undefined
        : `message ${message.tag} has lost its place by a receive that hides nothing`;
    }
    // A move task puts back what it could not move: due anew, at the time of the commit.
    const mayBePutBack = ledger.isMoving && earlyMs <= 0;
    if (after.status === "waiting" && after.atMs !== between.atMs) {
      if (mayBePutBack && after.atMs === record.atMs) return undefined;
      return `message ${message.tag} is due at ${after.atMs}, not at ${between.atMs}`;
    }
    return wasLeased(change) && earlyMs > 0
      ? `message ${message.tag} is leased ${earlyMs} ms before it is due`
      : undefined;
  },
};

/** Delay that a message was sent with, in seconds: that of its send to this queue, else the queue's. */
function delayOfSend(
  tag: number,
  transmission: Transmission | undefined,
  queue: number,
  { definition }: CommitRecord,
): number {
  if (transmission?.queue !== queue) return definition.deliveryDelaySeconds;
  return transmission.delaySeconds[tag - transmission.firstTag] ?? 0;
}

/**
 * The queues' time runs at 0.9 to 1.1 of real time, apart from jumps of at most `JUMP_MS`. Setting the machine's clock
 * ends nothing early and delays nothing.
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
    // The checker "conservation" looks at messages that died, were moved, or were given up by their worker daemon.
    const mayBeGivenUpByDaemon = record.definition.consumer !== null && message.firstReceivedMs > 0;
    if (message.departure === "dead" || message.departure === "moved" || mayBeGivenUpByDaemon)
      return undefined;
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
