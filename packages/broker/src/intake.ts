import {
  type EnqueueReply,
  isTopicObject,
  QUEUE_ERROR_CODES,
  type RpcFailure,
  type SendReply,
  type SendRequest,
  SQS_RECORD_BYTES_MAX,
} from "@sluice/protocol";
import { admit } from "./admit.ts";
import { enqueue } from "./enqueue.ts";
import { type Incoming, storeIncoming } from "./incoming.ts";
import type { HandOver, HandOverReply } from "./ports.ts";
import type { QueueCore } from "./queue-core.ts";
import { takeItems } from "./take.ts";

/** Packed bytes that may wait for their commit at a time; a Durable Object has 128 MB for everything. */
export const UNCOMMITTED_BYTES_MAX = 32_000_000;

/**
 * The way in: what is sent, or handed over by another queue, is checked, gathered by the jobs of a turn and stored by that
 * turn in as few segments as it fits. Bounds how much waits for its commit.
 */
export class Intake {
  readonly #core: QueueCore;
  /** What the turn that runs, or the next one, takes in. */
  #incoming: Incoming[] = [];
  #incomingCount = 0;
  #uncommittedBytes = 0;
  #messagesTaken = 0;

  constructor(core: QueueCore) {
    this.#core = core;
  }

  /**
   * Stores the batches of one call, all or none, and answers when they are durable. What is over a limit is refused with
   * its code; when more waits for the commit than memory should hold, 10250.
   */
  async send(requests: readonly SendRequest[]): Promise<SendReply> {
    const admitted = admit(requests, this.#core.deliveryDelaySeconds);
    if (!admitted.ok) return admitted;
    const taken = await this.takeIn(bytesOf(requests), () => {
      // The fast path looks at no message: nobody asks what became of each.
      if (!this.#core.queue.isFifo) this.accept(admitted.incoming);
      else for (const incoming of admitted.incoming) enqueue(this.#core, incoming);
    });
    return taken.ok ? { ok: true, metrics: this.#core.metrics() } : taken;
  }

  /** `send` for one batch of a dialect with larger messages, that wants to know what became of each. */
  async enqueue(request: SendRequest): Promise<Exclude<EnqueueReply, { ok: "outdated" }>> {
    const admitted = admit([request], this.#core.deliveryDelaySeconds, SQS_RECORD_BYTES_MAX);
    if (!admitted.ok) return admitted;
    const taken = await this.takeIn(bytesOf([request]), () => {
      if (this.#core.queue.isFifo) {
        return admitted.incoming.flatMap((incoming) => enqueue(this.#core, incoming));
      }
      this.accept(admitted.incoming);
      return null;
    });
    return taken.ok ? { ok: true, messages: taken.result } : taken;
  }

  /** Takes messages of another queue, once each, and answers when they are durable. */
  take(handOver: HandOver): Promise<HandOverReply> {
    const core = this.#core;
    return core.submit(() =>
      takeItems(core, handOver, (index) => {
        const incoming = { index, delaySeconds: core.deliveryDelaySeconds };
        // A FIFO queue tells duplicates among all that is sent to it, by topics too (spec sns-delivery 8.6).
        if (isTopicObject(handOver.source)) enqueue(core, incoming);
        else this.accept([incoming]);
      }),
    );
  }

  /** Runs `take` in a turn, unless more waits for its commit than may. */
  async takeIn<Result>(
    bytes: number,
    take: () => Result,
  ): Promise<{ readonly ok: true; readonly result: Result } | RpcFailure> {
    if (this.#uncommittedBytes + bytes > UNCOMMITTED_BYTES_MAX || this.#core.deduplication.isFull) {
      return {
        ok: false,
        code: QUEUE_ERROR_CODES.queueOverloaded,
        cause: "Queue is overloaded. Please back off.",
      };
    }
    this.#uncommittedBytes += bytes;
    try {
      return { ok: true, result: await this.#core.submitGated(take) };
    } finally {
      this.#uncommittedBytes -= bytes;
    }
  }

  /** Within a turn: takes messages in. */
  accept(incoming: readonly Incoming[]): void {
    this.#incoming.push(...incoming);
    for (const { index } of incoming) {
      this.#messagesTaken += index.count;
      this.#incomingCount += index.count;
    }
  }

  /** Within a turn: the sequence number of the next message that is taken in. */
  get nextSeq(): number {
    return this.#core.queue.nextSeq + this.#incomingCount;
  }

  /** Messages that were taken in by this life, those of a turn that runs included. */
  get messagesTaken(): number {
    return this.#messagesTaken;
  }

  /** Within a turn, after its jobs: puts into the queue what they have taken in. */
  store(nowMs: number): void {
    const { queue, payloadOf, cache } = this.#core;
    storeIncoming(queue, this.#incoming, payloadOf, cache, nowMs);
    this.#incoming = [];
    this.#incomingCount = 0;
  }
}

function bytesOf(requests: readonly SendRequest[]): number {
  return requests.reduce((sum, { packed }) => sum + packed.byteLength, 0);
}
