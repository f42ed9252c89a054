import {
  joinPacked,
  type MessageCopy,
  PackedFormatError,
  PackedIndex,
  type PublishedMessage,
  type PublishOutcome,
  type PublishReply,
  type PublishRequest,
  QUEUE_ERROR_CODES,
  SEQUENCE_NUMBER_DIGITS,
  type TopicDescription,
} from "@sluice/protocol";
import { inParts } from "./dead-letter.ts";
import { deduplicationKey } from "./deduplication.ts";
import { sequenceNumberOf } from "./enqueue.ts";
import { SEGMENT_BYTES_MAX } from "./incoming.ts";
import type { QueueCore } from "./queue-core.ts";

/**
 * A topic: an object that keeps no message, but has each on its way to several queues. All copies of what one call brings
 * are intents of one commit, so a publish is answered when every target will get it exactly once, and nobody waits for a
 * target. What goes to one target alone, and is taken by it at once, is never stored here. The object also keeps the order of
 * a FIFO topic, numbers its messages and tells duplicates (spec sns-delivery 9.6).
 */
export class Topic {
  readonly #core: QueueCore;
  #nextSequence: number;
  /** For people, in memory alone. */
  #published = 0;
  #duplicates = 0;
  /** The latest version of the topic that is known. */
  #version = 0;

  /** @param firstSequence larger than any of an earlier life. */
  constructor(core: QueueCore, firstSequence: number) {
    this.#core = core;
    this.#nextSequence = firstSequence;
  }

  /** Who goes by an older version is refused from now on; everybody is by `null`, when the topic was deleted. */
  changed(version: number | null): void {
    this.#version = Math.max(this.#version, version ?? Number.POSITIVE_INFINITY);
  }

  /** Takes the messages, all or none, and answers when they are durable. */
  async publish({ messages, deduplicationScope, version }: PublishRequest): Promise<PublishReply> {
    if (version !== undefined) {
      if (version < this.#version) return { ok: "outdated" };
      this.#version = version;
    }
    const copies = messages.flatMap((message) => message.copies);
    const unreadable = copies.find((copy) => !isOneRecord(copy));
    if (unreadable !== undefined) {
      const cause = `a copy for "${unreadable.target}" is not one message`;
      return { ok: false, code: QUEUE_ERROR_CODES.messageMetadataInvalid, cause };
    }
    const bytes = copies.reduce((sum, { packed }) => sum + packed.byteLength, 0);
    const target = deduplicationScope === null ? onlyTargetOf(copies) : null;
    if (target !== null && bytes <= SEGMENT_BYTES_MAX && this.#core.outbox.canOffer(target)) {
      return this.#offer(target, messages, bytes);
    }
    const taken = await this.#core.intake.takeIn(bytes, () => {
      const outcomes = messages.map((message) => this.#outcomeOf(message, deduplicationScope));
      this.#handOver(messages, outcomes);
      return outcomes;
    });
    if (!taken.ok) return taken;
    const duplicates = taken.result.filter(({ duplicate }) => duplicate).length;
    this.#duplicates += duplicates;
    this.#published += taken.result.length - duplicates;
    return { ok: true, messages: taken.result };
  }

  /**
   * All that goes to one target goes there at once: what it has taken need not be stored here. Of several targets one could have
   * its copies and another not when this object ends, so their intents come first.
   */
  async #offer(target: string, messages: readonly PublishedMessage[], bytes: number): Promise<PublishReply> {
    const { outbox } = this.#core;
    const outcomes = messages.map((message) => this.#outcomeOf(message, null));
    const records = messages.flatMap(({ copies }, i) =>
      // There is an outcome for each message.
      copies.map((copy) => this.#recordOf(copy, outcomes[i] as PublishOutcome)),
    );
    const open = await outbox.offer(target, joinPacked(records));
    if (open !== null) {
      const kept = await this.#core.intake.takeIn(bytes, () => outbox.keep(open));
      if (!kept.ok) {
        outbox.withdraw(open);
        return kept;
      }
    }
    this.#published += outcomes.length;
    return { ok: true, messages: outcomes };
  }

  describe(): TopicDescription {
    const { outbox, damage, nowMs, awakeSinceMs } = this.#core;
    return {
      nowMs,
      awakeSinceMs,
      published: this.#published,
      duplicates: this.#duplicates,
      handOvers: outbox.describe(),
      damage: damage.entries,
    };
  }

  #outcomeOf(
    { messageId, deduplicationId, groupId }: PublishedMessage,
    scope: PublishRequest["deduplicationScope"],
  ): PublishOutcome {
    if (scope === null) return { messageId, sequenceNumber: null, duplicate: false };
    const { deduplication } = this.#core;
    const settings = { deduplicationScope: scope === "topic" ? "queue" : scope } as const;
    const key = deduplicationId === null ? null : deduplicationKey(settings, groupId ?? "", deduplicationId);
    const first = key === null ? null : deduplication.find(key);
    if (first !== null) {
      return { messageId: first.messageId, sequenceNumber: sequenceNumberOf(first.seq), duplicate: true };
    }
    const seq = this.#nextSequence++;
    if (key !== null) deduplication.remember(key, { messageId, seq });
    return { messageId, sequenceNumber: sequenceNumberOf(seq), duplicate: false };
  }

  /** One intent for each target, however many messages there are for it. */
  #handOver(messages: readonly PublishedMessage[], outcomes: readonly PublishOutcome[]): void {
    const records = new Map<string, Uint8Array[]>();
    for (const [i, { copies }] of messages.entries()) {
      const outcome = outcomes[i];
      if (outcome === undefined || outcome.duplicate) continue;
      for (const copy of copies) {
        const of = records.get(copy.target);
        const record = this.#recordOf(copy, outcome);
        if (of === undefined) records.set(copy.target, [record]);
        else of.push(record);
      }
    }
    for (const [target, all] of records) {
      for (const part of inParts(all)) this.#core.outbox.put(target, joinPacked(part));
    }
  }

  /** The record of a copy as it is stored: it was sent now, and has its number. */
  #recordOf({ packed, sequenceNumberAt }: MessageCopy, { sequenceNumber }: PublishOutcome): Uint8Array {
    const record = packed.slice();
    new PackedIndex(record).stamp(0, this.#core.nowMs);
    if (sequenceNumberAt !== null && sequenceNumber !== null) {
      record.set(new TextEncoder().encode(sequenceNumber), sequenceNumberAt);
    }
    return record;
  }
}

/** `null` for several targets, or none. */
function onlyTargetOf(copies: readonly MessageCopy[]): string | null {
  const [first, ...others] = copies;
  return first !== undefined && others.every(({ target }) => target === first.target) ? first.target : null;
}

function isOneRecord({ packed, sequenceNumberAt }: MessageCopy): boolean {
  try {
    const fits = sequenceNumberAt === null || sequenceNumberAt + SEQUENCE_NUMBER_DIGITS <= packed.byteLength;
    return new PackedIndex(packed).count === 1 && fits;
  } catch (error) {
    if (error instanceof PackedFormatError) return false;
    throw error;
  }
}
