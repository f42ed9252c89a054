import {
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
import { type Deduplication, deduplicationKey } from "../send/deduplication.ts";
import { type Intake, sequenceNumberOf } from "../send/intake.ts";
import type { QueueContext } from "../turn/context.ts";
import type { Outbox } from "./outbox.ts";

/** Parts of a queue that a topic uses. */
interface TopicParts {
  readonly intake: Intake;
  readonly outbox: Outbox;
  readonly deduplication: Deduplication;
}

/**
 * Topic, which copies each message to the outbox for several queues and keeps none itself. All copies of a call are
 * intents of one commit, so a publish is answered once every target is sure to get it exactly once, and waits for no
 * target. A FIFO topic also keeps the order, numbers messages and drops duplicates (spec sns-delivery 9.6).
 */
export class Topic {
  readonly #context: QueueContext;
  readonly #parts: TopicParts;
  readonly #awakeSinceMs: number;
  #nextSequence: number;
  /** Counts for people, in memory alone. */
  #published = 0;
  #duplicates = 0;
  /** Latest known version of the topic. */
  #version = 0;

  /** @param firstSequence larger than any of an earlier epoch. */
  constructor(context: QueueContext, parts: TopicParts, firstSequence: number) {
    this.#context = context;
    this.#parts = parts;
    this.#awakeSinceMs = context.nowMs;
    this.#nextSequence = firstSequence;
  }

  /** The number of the next message of a FIFO topic. */
  get nextSequence(): number {
    return this.#nextSequence;
  }

  /** Refuses publishers with an older version from now on. @param version `null` for a deleted topic refuses all. */
  changed(version: number | null): void {
    this.#version = Math.max(this.#version, version ?? Number.POSITIVE_INFINITY);
  }

  /** Publishes messages, all or none, and resolves when they are durable. */
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
    const reserved = this.#parts.intake.reserve(bytes);
    if (!reserved.ok) return reserved;
    let outcomes: PublishOutcome[];
    try {
      outcomes = await this.#context.submit(() => this.#store(messages, deduplicationScope));
    } finally {
      reserved.release();
    }
    const duplicates = outcomes.filter(({ duplicate }) => duplicate).length;
    this.#duplicates += duplicates;
    this.#published += outcomes.length - duplicates;
    return { ok: true, messages: outcomes };
  }

  describe(): TopicDescription {
    const { damage, nowMs } = this.#context;
    return {
      nowMs,
      awakeSinceMs: this.#awakeSinceMs,
      published: this.#published,
      duplicates: this.#duplicates,
      handOvers: this.#parts.outbox.describe(),
      damage: damage.entries,
    };
  }

  #outcomeOf(
    { messageId, deduplicationId, groupId }: PublishedMessage,
    scope: PublishRequest["deduplicationScope"],
  ): PublishOutcome {
    if (scope === null) return { messageId, sequenceNumber: null, duplicate: false };
    const { deduplication } = this.#parts;
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

  /** Within a turn: puts all messages for a target into the outbox at once. */
  #store(
    messages: readonly PublishedMessage[],
    scope: PublishRequest["deduplicationScope"],
  ): PublishOutcome[] {
    const outcomes = messages.map((message) => this.#outcomeOf(message, scope));
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
    for (const [target, all] of records) this.#parts.outbox.put(target, all);
    return outcomes;
  }

  /** Makes the record of a copy, with the time of its send and its sequence number. */
  #recordOf({ packed, sequenceNumberAt }: MessageCopy, { sequenceNumber }: PublishOutcome): Uint8Array {
    const record = packed.slice();
    new PackedIndex(record).stamp(0, this.#context.nowMs);
    if (sequenceNumberAt !== null && sequenceNumber !== null) {
      record.set(new TextEncoder().encode(sequenceNumber), sequenceNumberAt);
    }
    return record;
  }
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
