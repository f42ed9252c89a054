import type { AppliedCommit } from "../ledger/applied-commit.ts";
import { leasedFrom, timesDelivered, wasLeased } from "../ledger/change.ts";
import type { QueueObject } from "../platform/queue-object.ts";
import type { Checker } from "./checker.ts";

/**
 * Messages leave by (due time, sequence): a lease takes the first that are ready and leaves none of them behind, a
 * batch is in that order, and sequence is the order of sending. So with one delivery at a time and no retry a whole
 * queue leaves in order. Of a FIFO queue it checks the sequence alone: see `groupOrder`.
 */
export const order: Checker = {
  property: "order",

  committed(queue, commit) {
    if (queue.definition.fifo !== undefined) return numberedOutOfOrder(queue, commit);
    return leasedOutOfOrder(queue, commit) ?? numberedOutOfOrder(queue, commit);
  },

  departs({ definition }, { messages, isVisible }) {
    if (definition.fifo !== undefined || isVisible) return undefined;
    for (const [i, message] of messages.entries()) {
      const previous = messages[i - 1];
      if (previous === undefined || message === undefined) continue;
      if (previous.isPlaceUnclear || message.isPlaceUnclear) continue;
      if (isBefore(message.leasedFromMs, message.seq, previous.leasedFromMs, previous.seq)) {
        return `message ${previous.tag} is before message ${message.tag} in its batch`;
      }
    }
    return undefined;
  },
};

function leasedOutOfOrder({ ledger }: QueueObject, { changes, record }: AppliedCommit): string | undefined {
  if (ledger.isMoving) return undefined;
  let last: { atMs: number; seq: number; tag: number } | null = null;
  for (const change of changes) {
    const { message, after } = change;
    // A puller's lease comes first in its turn: what the same turn makes ready comes too late for it.
    if (after.status !== "leased" || after.kind === "pull" || !wasLeased(change)) continue;
    const atMs = leasedFrom(change);
    if (atMs === null) continue;
    if (last === null || isBefore(last.atMs, last.seq, atMs, message.seq)) {
      last = { atMs, seq: message.seq, tag: message.tag };
    }
  }
  if (last === null) return undefined;
  // A message that a receive of the same commit has left visible is back in its place.
  const returned = new Set(
    changes.flatMap((change) =>
      change.after.status === "waiting" && timesDelivered(change) > 0 ? [change.message.tag] : [],
    ),
  );
  for (const { tag, view, seq } of ledger.present()) {
    if (view.status !== "waiting" || view.atMs > record.atMs || returned.has(tag)) continue;
    if (isBefore(view.atMs, seq, last.atMs, last.seq))
      return `message ${last.tag} is leased before message ${tag}`;
  }
  return undefined;
}

function numberedOutOfOrder(
  { world, ledger, index }: QueueObject,
  { accepted }: AppliedCommit,
): string | undefined {
  if (accepted.length === 0) return undefined;
  const isNew = new Set(accepted);
  let seqMaxBefore = -1;
  for (const message of ledger.present()) {
    if (!isNew.has(message)) seqMaxBefore = Math.max(seqMaxBefore, message.seq);
  }
  // Tags are given at arrival, so they are in the order of sending.
  const sent = accepted.filter(({ tag }) => world.transmissions.get(tag)?.queue === index);
  sent.sort((a, b) => a.tag - b.tag);
  for (const [i, { tag, seq }] of sent.entries()) {
    const before = sent[i - 1];
    if (before !== undefined && seq <= before.seq)
      return `message ${tag} is numbered before message ${before.tag}`;
  }
  const early = accepted.find(({ seq }) => seq <= seqMaxBefore);
  return early === undefined
    ? undefined
    : `message ${early.tag} has number ${early.seq}, ${seqMaxBefore} is there`;
}

function isBefore(atMs: number, seq: number, otherAtMs: number, otherSeq: number): boolean {
  return atMs < otherAtMs || (atMs === otherAtMs && seq < otherSeq);
}

/**
 * Messages of a group of a FIFO queue leave in the order in which they were sent: when one leaves, every earlier one
 * of its group has left for good or is before it in its batch (spec sqs 4.2).
 */
export const groupOrder: Checker = {
  property: "group order",

  departs({ ledger, definition }, { messages }) {
    if (definition.fifo === undefined) return undefined;
    const left = new Set<number>();
    for (const message of messages) {
      if (message === undefined) continue;
      for (const other of ledger.present()) {
        if (other.group !== message.group || other.seq >= message.seq || left.has(other.tag)) continue;
        return `message ${message.tag} leaves before message ${other.tag} of its group`;
      }
      left.add(message.tag);
    }
    return undefined;
  },
};
