import {
  type EnqueuedMessage,
  type EnqueueRequest,
  joinPacked,
  PackedIndex,
  QUEUE_ERROR_CODES,
  type QueueUsage,
  type RpcFailure,
  type SendReply,
  type SendRequest,
} from "@sluice/protocol";
import type { CallerMap } from "../shards/caller-map.ts";
import type { ShardGroups } from "../shards/shard-groups.ts";
import type { PayloadCache } from "../store/payload-cache.ts";
import type { QueueContext } from "../turn/context.ts";
import { metricsOf } from "../turn/figures.ts";
import { deliveryDelaySecondsOf } from "../turn/rules.ts";
import { type AcceptedBatch, placeBatches } from "./accepted-batch.ts";
import { checkRequests } from "./check-requests.ts";
import { type Deduplication, deduplicationKey } from "./deduplication.ts";
import { noteStored } from "./note-stored.ts";
import type { SeenIds } from "./seen-ids.ts";

/** Most packed bytes that wait for their commit, of the 128 MB that a Durable Object has. */
export const UNCOMMITTED_BYTES_MAX = 32_000_000;

/** Size of one billed operation of Cloudflare Queues and SQS, in bytes. */
const BILLED_BYTES = 64_000;

/** Sequence number of the first message, so that each has 20 digits (spec sqs 4.4). */
const FIRST_SEQUENCE_NUMBER = 10n ** 19n;

const OVERLOADED: RpcFailure = {
  ok: false,
  code: QUEUE_ERROR_CODES.queueOverloaded,
  cause: "Queue is overloaded. Please back off.",
};

/** Checked batches. Their bytes count as uncommitted until `release`. */
export interface Acceptable {
  readonly ok: true;
  /**
   * Within a turn: accepts the batches, all or none.
   *
   * @returns the outcome for each message of a FIFO queue, else `null`; or that a group has moved to another shard.
   */
  accept(callerMap?: CallerMap): Accepted;
  /** Releases their bytes, once the turn is durable or has failed. */
  release(): void;
}

type Accepted = { readonly ok: true; readonly messages: EnqueuedMessage[] | null } | RpcFailure;

/** Parts of a queue that its intake uses. */
interface IntakeParts {
  readonly deduplication: Deduplication;
  readonly seen: SeenIds;
  readonly cache: PayloadCache;
  readonly groups: ShardGroups;
}

/**
 * Intake of sent and transferred messages. They are checked, gathered by the jobs of a turn, and placed by that turn in
 * as few segments as possible. It bounds how much waits for its commit.
 */
export class Intake {
  readonly #context: QueueContext;
  readonly #deduplication: Deduplication;
  readonly #seen: SeenIds;
  readonly #cache: PayloadCache;
  readonly #groups: ShardGroups;
  /** Batches of the current turn, or of the next one. */
  #batches: AcceptedBatch[] = [];
  #batchedCount = 0;
  #uncommittedBytes = 0;
  readonly #accepted = { messages: 0, messageBytes: 0, messageChunks: 0 };

  constructor(context: QueueContext, { deduplication, seen, cache, groups }: IntakeParts) {
    this.#context = context;
    this.#groups = groups;
    this.#seen = seen;
    this.#deduplication = deduplication;
    this.#cache = cache;
  }

  /**
   * Stores the batches of one call, all or none, and resolves when they are durable. A batch over a limit is refused
   * with the limit's code, and any batch with 10250 while too much waits for its commit.
   */
  async send(requests: readonly SendRequest[], producer?: string, callerMap?: CallerMap): Promise<SendReply> {
    const acceptable = this.check(requests, { by: producer });
    if (!acceptable.ok) return acceptable;
    try {
      const accepted = await this.#context.submit(() => {
        callerMap?.check();
        return acceptable.accept(callerMap);
      });
      if (!accepted.ok) return accepted;
    } finally {
      acceptable.release();
    }
    return { ok: true, metrics: metricsOf(this.#context.queue) };
  }

  /**
   * Checks batches that a turn is to accept, all or none.
   *
   * @param messageBytesMax Largest message, extension included. Default: Cloudflare's.
   * @param by their producer. Default: unknown.
   */
  check(
    requests: readonly EnqueueRequest[],
    { messageBytesMax, by }: { readonly messageBytesMax?: number; readonly by?: string | undefined } = {},
  ): Acceptable | RpcFailure {
    const delaySeconds = deliveryDelaySecondsOf(this.#context.definition);
    const checked = checkRequests(requests, delaySeconds, messageBytesMax, by);
    if (!checked.ok) return checked;
    const once = requests[0]?.once;
    if (once !== undefined && !this.#seen.hasRoomFor(checked.batches[0]?.index.count ?? 0)) return OVERLOADED;
    const reserved = this.reserve(requests.reduce((sum, { packed }) => sum + packed.byteLength, 0));
    if (!reserved.ok) return reserved;
    const batches = checked.batches.map((each, i) => ({ ...each, ...earlierOf(requests[i]) }));
    const accept = (callerMap?: CallerMap): Accepted => {
      const { isFifo } = this.#context.queue;
      const moved = isFifo ? this.#groups.refusal(batches, callerMap) : null;
      if (moved != null) return moved;
      if (once !== undefined)
        return { ok: true, messages: batches.flatMap((each) => this.#acceptOnce(each, once.forget)) };
      // The messages of a backup were told from duplicates when they were sent.
      const isRestore = batches.every(({ attempts }) => attempts !== undefined);
      if (isFifo && !isRestore)
        return { ok: true, messages: batches.flatMap((each) => this.acceptNew(each)) };
      // The fast path looks at no single message, since its caller needs no outcome for each.
      this.accept(batches);
      return { ok: true, messages: null };
    };
    return { ok: true, accept, release: reserved.release };
  }

  /** Counts bytes as uncommitted until they are released, or refuses when too much waits for its commit. */
  reserve(bytes: number): { readonly ok: true; release(): void } | RpcFailure {
    if (this.#uncommittedBytes + bytes > UNCOMMITTED_BYTES_MAX || this.#deduplication.isFull)
      return OVERLOADED;
    this.#uncommittedBytes += bytes;
    return {
      ok: true,
      release: () => {
        this.#uncommittedBytes -= bytes;
      },
    };
  }

  /** Within a turn: accepts messages; on a FIFO queue only those with new deduplication ids. */
  acceptNew(batch: AcceptedBatch): EnqueuedMessage[] {
    const { index } = batch;
    const { queue, definition } = this.#context;
    const outcomes: EnqueuedMessage[] = [];
    const kept: number[] = [];
    for (let i = 0; i < index.count; i++) {
      const { groupId = "", deduplicationId } = queue.isFifo ? index.extension(i) : {};
      const key =
        deduplicationId === undefined ? null : deduplicationKey(definition?.fifo, groupId, deduplicationId);
      const first = key === null ? null : this.#deduplication.find(key);
      if (first !== null) {
        const sequenceNumber = sequenceNumberOf(first.seq);
        outcomes.push({ messageId: first.messageId, sequenceNumber, duplicate: true });
        continue;
      }
      const [messageId, seq] = [index.id(i), this.nextSeq + kept.length];
      kept.push(i);
      if (key !== null) this.#deduplication.remember(key, { messageId, seq });
      const sequenceNumber = queue.isFifo ? sequenceNumberOf(seq) : null;
      outcomes.push({ messageId, sequenceNumber, duplicate: false });
    }
    if (kept.length === index.count) this.accept([batch]);
    else if (kept.length > 0) this.accept([partOf(batch, kept)]);
    return outcomes;
  }

  /** Within a turn: accepts messages whose ids the queue does not remember, and then forgets other ids. */
  #acceptOnce(batch: AcceptedBatch, forget: readonly string[]): EnqueuedMessage[] {
    const { index } = batch;
    const kept = new Map<string, number>();
    const outcomes = Array.from({ length: index.count }, (_, i): EnqueuedMessage => {
      const messageId = index.id(i);
      const duplicate = kept.has(messageId) || this.#seen.has(messageId);
      if (!duplicate) kept.set(messageId, i);
      return { messageId, sequenceNumber: null, duplicate };
    });
    if (kept.size > 0) this.accept([partOf(batch, [...kept.values()])]);
    this.#seen.remember([...kept.keys()]);
    this.#seen.forget(forget);
    return outcomes;
  }

  /** Within a turn: accepts batches as they are. */
  accept(batches: readonly AcceptedBatch[]): void {
    const { traces } = this.#context;
    this.#batches.push(...(traces === null ? batches : batches.map((each) => traces.accepted(each))));
    for (const { index } of batches) {
      this.#groups.accepted(index);
      this.#batchedCount += index.count;
      this.#accepted.messages += index.count;
      this.#accepted.messageBytes += index.packed.byteLength;
      this.#accepted.messageChunks += chunksOf(index);
    }
  }

  /** Whether this turn, or the next one, has accepted nothing so far. */
  get isIdle(): boolean {
    return this.#batches.length === 0;
  }

  /** Sequence number of the next message. For use within a turn. */
  get nextSeq(): number {
    return this.#context.queue.nextSeq + this.#batchedCount;
  }

  /** Counts of the messages that this epoch has accepted, the current turn included. */
  get accepted(): Pick<QueueUsage, "messages" | "messageBytes" | "messageChunks"> {
    return this.#accepted;
  }

  /** Within a turn, after its jobs: puts the accepted batches into the queue. */
  place(nowMs: number): void {
    const { queue, payloadOf } = this.#context;
    placeBatches(queue, this.#batches, payloadOf, this.#cache, nowMs, (group, placement) => {
      noteStored(this.#context, group, placement);
    });
    this.#batches = [];
    this.#batchedCount = 0;
    this.#groups.placed();
  }
}

/** Makes a sequence number: 20 digits that grow with the messages of a queue. */
export function sequenceNumberOf(seq: number): string {
  return String(FIRST_SEQUENCE_NUMBER + BigInt(seq));
}

/** Counts the billed chunks of messages. In small batches, the usual ones, each message is one chunk. */
function chunksOf(index: PackedIndex): number {
  if (index.packed.byteLength <= BILLED_BYTES) return index.count;
  let chunks = 0;
  for (let i = 0; i < index.count; i++) {
    chunks += Math.max(1, Math.ceil(index.countedBytes(i) / BILLED_BYTES));
  }
  return chunks;
}

/** Returns the attempts of messages before they were exported, if the request has any. */
function earlierOf(request: EnqueueRequest | undefined): Pick<AcceptedBatch, "attempts"> {
  return request?.attempts === undefined ? {} : { attempts: request.attempts };
}

/** Makes a batch of some messages of another one. It has copies, because views would keep the other one in memory. */
function partOf(batch: AcceptedBatch, positions: readonly number[]): AcceptedBatch {
  const { index, attempts } = batch;
  const own = attempts === undefined ? {} : { attempts: positions.map((i) => attempts[i] ?? 0) };
  const records = positions.map((i) => index.records(i, i + 1));
  return { ...batch, ...own, index: new PackedIndex(joinPacked(records).slice()) };
}
