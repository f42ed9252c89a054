import type { AppliedCommit } from "../ledger/applied-commit.ts";
import { DEDUPLICATION_MS } from "../ledger/publications.ts";
import type { QueueObject, QueueWorld } from "../platform/queue-object.ts";
import type { Checker } from "./checker.ts";

/**
 * Checker of topics: a published message leaves for every subscribed queue, all copies in one commit, each once, and
 * stays until its queue has it for good. A FIFO topic takes one of the messages that have the same deduplication id
 * within five minutes. A copy for a queue that is gone goes on to where its subscription says, once, or is dropped, and
 * never both comes and goes on (spec sns-delivery 6.3).
 */
export const fanOut: Checker = {
  property: "fan-out",

  committed(queue, commit) {
    return queue.isTopic
      ? leftTopic(queue, commit)
      : (cameFromNowhere(queue, commit) ?? passedOn(queue, commit));
  },

  published({ ledger, world }, { taken, dropped }) {
    for (const { tags } of taken) {
      const lost = tags.find((tag) => world.copies.get(tag)?.publishedMs == null);
      if (lost !== undefined) return `copy ${lost} is answered as published and is not durable`;
    }
    for (const { deduplicationId, tags } of dropped) {
      // A publish without subscribers leaves no trace here.
      if (tags.length === 0) continue;
      if (deduplicationId === null || !ledger.publishedIds.has(deduplicationId)) {
        return `a publish is dropped as a duplicate of "${deduplicationId}", which was never published`;
      }
    }
    return undefined;
  },
};

function leftTopic({ world, ledger }: QueueObject, commit: AppliedCommit): string | undefined {
  const { pendingIn, pendingOut, record, publishedBefore } = commit;
  const left = new Set<number>();
  for (const { target, tags } of pendingIn) {
    for (const tag of tags) {
      const copy = world.copies.get(tag);
      if (copy === undefined) return `copy ${tag} was never published`;
      if (copy.target !== target) return `copy ${tag} is for "${copy.target}" and leaves for "${target}"`;
      if (left.has(tag) || publishedBefore.has(tag)) return `copy ${tag} leaves its topic twice`;
      left.add(tag);
    }
  }
  for (const tag of left) {
    const { publication } = world.copies.get(tag) ?? {};
    const missing = publication?.tags.find((other) => !left.has(other));
    if (missing !== undefined) return `copy ${tag} leaves without copy ${missing} of the same message`;
  }
  for (const [id, { atMs, beforeMs }] of ledger.publishedIds) {
    if (atMs === record.atMs && beforeMs !== null && atMs - beforeMs < DEDUPLICATION_MS) {
      return `"${id}" is published ${atMs - beforeMs} ms after a message of the same deduplication id`;
    }
  }
  return notThere(world, pendingOut);
}

function notThere(world: QueueWorld, pendingOut: AppliedCommit["pendingOut"]): string | undefined {
  for (const pendingBatch of pendingOut) {
    if (pendingBatch === undefined) return "a transfer is deleted that was never there";
    const there = world.queueNamed(pendingBatch.target);
    const lost = pendingBatch.tags.find(
      (tag) => !there?.ledger.messages.has(tag) && !there?.ledger.passedOn.has(tag),
    );
    if (lost !== undefined) return `copy ${lost} is deleted before "${pendingBatch.target}" has it`;
  }
  return undefined;
}

function cameFromNowhere(
  { world, name, ledger }: QueueObject,
  { accepted }: AppliedCommit,
): string | undefined {
  for (const { tag, copies } of accepted) {
    const copy = world.copies.get(tag);
    if (copy?.target !== name) continue;
    if (copy.publishedMs === null) return `copy ${tag} is taken and its publish is not durable`;
    if (copies > 1) return `copy ${tag} is taken ${copies} times`;
    if (ledger.passedOn.has(tag)) return `copy ${tag} is taken and was passed on before`;
  }
  return undefined;
}

/** Checks the copies that a deleted queue passes on. */
function passedOn({ ledger, world, name, gone }: QueueObject, commit: AppliedCommit): string | undefined {
  const { pendingIn, passedOnBefore } = commit;
  if (gone === null) return undefined;
  for (const { target, tags } of pendingIn) {
    if (gone.fate.kind === "dropped" || gone.fate.queue !== target)
      return `messages are passed on to "${target}"`;
    for (const tag of tags) {
      if (world.copies.get(tag)?.target !== name)
        return `message ${tag} is passed on and was not for this queue`;
      if (passedOnBefore.has(tag)) return `copy ${tag} is passed on twice`;
      if (ledger.messages.has(tag)) return `copy ${tag} is passed on and was taken before`;
    }
  }
  return undefined;
}
