import type { QueueDefinition } from "@sluice/protocol";
import { type CommitRecord, isNotification } from "../ledger/change.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Message } from "../ledger/message.ts";
import { deadLetterQueueOf } from "../ledger/origin.ts";
import { runOfTag } from "../ledger/tasks.ts";
import type { Checker } from "./checker.ts";

/**
 * Checker of dead-letter moves: a message that dies leaves in the same commit for its dead-letter queue, and no other
 * does; the transfer is forgotten when the other queue has it for good; and that one takes each message once, however
 * often it is transferred.
 */
export const deadLetterMove: Checker = {
  property: "dead-letter move",

  committed(queue, { accepted, changes, pendingIn: pendingBatches, pendingOut, record }) {
    const { world, ledger, index, name } = queue;
    const { definition } = record;
    // A topic and a deleted queue transfer messages that have not died.
    if (queue.isTopic || queue.gone !== null) return undefined;
    const target = deadLetterQueueOf(definition);
    const pendingIn = pendingBatches.filter(({ isMove }) => !isMove);
    const moved = pendingIn.flatMap(({ tags }) => tags);
    const died: number[] = moved.filter((tag) => isPassedOn(ledger, tag, record));
    for (const { message, before, after } of changes) {
      if (before.status !== "gone" && after.status === "gone" && isForDeadLetters(message, definition)) {
        died.push(message.tag);
      }
    }
    const expected = target === null ? [] : died;
    if (moved.toSorted(byNumber).join() !== expected.toSorted(byNumber).join()) {
      return `messages ${died.join(", ") || "none"} died, ${moved.join(", ") || "none"} are transferred`;
    }
    const stray = pendingIn.find((pendingBatch) => pendingBatch.target !== target);
    if (stray !== undefined) return `transfer ${stray.id} goes to "${stray.target}"`;
    for (const pendingBatch of pendingOut) {
      if (pendingBatch === undefined) return "a transfer is deleted that was never there";
      const there = world.queueNamed(pendingBatch.target);
      const lost = pendingBatch.tags.find(
        (tag) => !there?.ledger.messages.has(tag) && !there?.canHaveBeenOver(tag),
      );
      if (lost !== undefined) return `message ${lost} is deleted before "${pendingBatch.target}" has it`;
    }
    for (const { tag, copies } of accepted) {
      if (world.transmissions.get(tag)?.queue === index || runOfTag(tag) !== null) continue;
      if (world.copies.get(tag)?.target === name || world.moved.get(tag)?.target === name) continue;
      if (copies > 1) return `message ${tag} is taken ${copies} times`;
      const isDead = world.queues.some(
        ({ index: before, ledger, definition }) =>
          before < index &&
          (ledger.passedOn.has(tag) || isForDeadLetters(ledger.messages.get(tag), definition)),
      );
      if (!isDead) return `message ${tag} is taken and not dead`;
    }
    return undefined;
  },
};

function byNumber(a: number, b: number): number {
  return a - b;
}

/** A notification goes to the dead-letter queue when its time is up too (spec sns-delivery 6.3, 7). */
function isForDeadLetters(message: Message | undefined, definition: QueueDefinition): boolean {
  const departure = message?.departure;
  return departure === "dead" || (departure === "expired" && isNotification(definition));
}

/**
 * Whether a message came and went in one commit: a notification that was over on arrival, or one that was received
 * too often.
 */
function isPassedOn(ledger: Ledger, tag: number, record: CommitRecord): boolean {
  const message = ledger.messages.get(tag);
  if (message?.segmentId !== 0) return false;
  return (
    message.departure === "dead" || (ledger.isOverOnArrival(tag, record) && isNotification(record.definition))
  );
}
