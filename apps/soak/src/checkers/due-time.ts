import { type CommitRecord, wasLeased } from "../ledger/change.ts";
import type { Message } from "../ledger/message.ts";
import { runOfTag } from "../ledger/tasks.ts";
import type { Checker } from "./checker.ts";

/** A message waits exactly as long as its send or its retry says, and is not leased before. */
export const dueTime: Checker = {
  property: "due time",

  committed({ world, ledger, index }, { accepted, changes, record }) {
    const { definition } = record;
    for (const message of accepted) {
      const { tag, acceptedMs, firstDueMs } = message;
      const transmission = world.transmissions.get(tag);
      const delaySeconds =
        runOfTag(tag) !== null
          ? 0
          : transmission?.queue === index
            ? (transmission.delaySeconds[tag - transmission.firstTag] ?? 0)
            : definition.deliveryDelaySeconds;
      if (acceptedMs !== ageFrom(message, record))
        return `message ${tag} was accepted at another time than it is stored`;
      if (firstDueMs !== record.atMs + 1_000 * delaySeconds) {
        return `message ${tag} is due ${firstDueMs - record.atMs} ms after its send, not ${delaySeconds} s`;
      }
    }
    for (const change of changes) {
      const { message, between, after } = change;
      if (between.status !== "waiting") continue;
      if (after.status === "waiting" && after.attempts > between.attempts) {
        if (between.atMs > record.atMs) {
          return `message ${message.tag} is received ${between.atMs - record.atMs} ms before it is due`;
        }
        // Received and left visible: it is where it was.
        const placeMs = definition.fifo === undefined ? message.firstDueMs : record.atMs;
        if (after.atMs !== placeMs)
          return `message ${message.tag} has lost its place by a receive that hides nothing`;
        continue;
      }
      // What a move task has looked at and could not move waits behind what waits as long as it.
      const mayBePutBack = ledger.isMoving && between.atMs <= record.atMs;
      if (after.status === "waiting" && after.atMs !== between.atMs) {
        if (mayBePutBack && after.atMs === record.atMs) continue;
        return `message ${message.tag} is due ${after.atMs - between.atMs} ms later than it should be`;
      }
      if (wasLeased(change) && between.atMs > record.atMs) {
        return `message ${message.tag} is leased ${between.atMs - record.atMs} ms before it is due`;
      }
    }
    return undefined;
  },
};

/** The retention of a message that names the queue it comes from goes on, but on a FIFO queue (spec sqs 6.2). */
function ageFrom({ sentMs, namesSource }: Message, { atMs, definition }: CommitRecord): number {
  return namesSource && definition.fifo === undefined ? Math.min(atMs, sentMs) : atMs;
}
