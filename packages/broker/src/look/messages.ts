import type { MessagePosition } from "@sluice/engine";
import { isReadable, type LookReply, type LookRequest, PackedIndex, type QueueWhy } from "@sluice/protocol";
import type { PayloadCache } from "../store/payload-cache.ts";
import type { QueueContext } from "../turn/context.ts";
import type { Throttle } from "../turn/throttle.ts";
import type { Conditions, DaemonDeliverer, Deliverer, PushDeliverer } from "../why/conditions.ts";
import { whyOfQueue } from "../why/queue-reason.ts";
import { Reasons } from "../why/reasons.ts";
import { look } from "./look.ts";

/** The parts of a queue that tell who gets its messages. */
interface MessagesParts {
  readonly awakeSinceMs: number;
  readonly cache: PayloadCache;
  readonly throttle: Throttle;
  /** `null` where nothing is pushed. */
  readonly dispatcher: { readonly deliverer: PushDeliverer | null };
  readonly daemon: { readonly deliverer: DaemonDeliverer | null };
  readonly receivers: { readonly askedMs: number | null };
}

/** The messages of a queue for people: how each stands, and why it is not delivered. */
export class Messages {
  readonly #context: QueueContext;
  readonly #parts: MessagesParts;
  readonly #elapsedMs: () => number;

  /** @param elapsedMs how long something takes is told by it, in ms. */
  constructor(context: QueueContext, parts: MessagesParts, elapsedMs = () => performance.now()) {
    this.#context = context;
    this.#parts = parts;
    this.#elapsedMs = elapsedMs;
  }

  /** Goes through messages as they stand. Throws RangeError for a cursor that is none. */
  look(request: LookRequest): LookReply {
    const { queue } = this.#context;
    const reasons = new Reasons(queue, this.conditions, this.#idAt);
    const payloadOf = (segmentId: number) => this.#payloadOf(segmentId);
    return look({ context: this.#context, reasons, payloadOf, elapsedMs: this.#elapsedMs }, request);
  }

  /** Why the queue as a whole delivers nothing more now. */
  why(): QueueWhy {
    const { queue, damage } = this.#context;
    return whyOfQueue(queue, this.conditions, damage.entries, this.#idAt);
  }

  /** What decides, beside the engine's state, whether messages leave. */
  get conditions(): Conditions {
    const { name, nowMs, definition } = this.#context;
    const { awakeSinceMs, throttle } = this.#parts;
    return {
      ...{ queue: name, nowMs, awakeSinceMs, definition, deliverer: this.#deliverer },
      ...{ room: throttle.room, isThrottled: throttle.isOn, nextSlotMs: throttle.nextMs },
    };
  }

  get #deliverer(): Deliverer {
    const { dispatcher, daemon, receivers } = this.#parts;
    const known = dispatcher.deliverer ?? daemon.deliverer;
    if (known !== null) return known;
    const consumer = this.#context.definition?.consumer ?? null;
    if (consumer?.type === "http_pull" || (consumer === null && receivers.askedMs !== null)) {
      return { kind: "clients", askedMs: receivers.askedMs };
    }
    const expected = consumer?.type === "worker" ? consumer.worker : null;
    return { kind: "nobody", expected };
  }

  readonly #idAt = ({ segmentId, index }: MessagePosition): string | null => {
    const payload = this.#payloadOf(segmentId);
    return payload !== null && isReadable(payload, index) ? payload.id(index) : null;
  };

  /** Not kept: a look goes through more than memory has room for. */
  #payloadOf(segmentId: number): PackedIndex | null {
    const known = this.#parts.cache.written(segmentId);
    if (known !== undefined) return known;
    try {
      const bytes = this.#context.store.readPayload(segmentId);
      return bytes === null ? null : new PackedIndex(bytes);
    } catch {
      // Its loss is noted when it is delivered.
      return null;
    }
  }
}
