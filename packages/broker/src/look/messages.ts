import { type MessagePosition, type MessageRange, makeDue } from "@sluice/engine";
import {
  isReadable,
  type LookReply,
  type LookRequest,
  type MadeDue,
  PackedIndex,
  type QueueWhy,
  workerOf,
} from "@sluice/protocol";
import { decodeToken } from "../receive/message-token.ts";
import type { PayloadCache } from "../store/payload-cache.ts";
import type { QueueContext } from "../turn/context.ts";
import { noteSlices } from "../turn/note-slices.ts";
import type { Throttle } from "../turn/throttle.ts";
import type { Conditions, DaemonDeliverer, Deliverer, PushDeliverer } from "../why/conditions.ts";
import { whyOfQueue } from "../why/queue-reason.ts";
import { Reasons } from "../why/reasons.ts";
import { type LookPorts, look, refOf, type SearchPorts, search, type Wanted } from "./look.ts";
import { asksForFinished, lookAtFinished } from "./look-finished.ts";

/** Messages that a search has found. */
export interface Found {
  readonly positions: readonly MessagePosition[];
  /** Message at which it ended; `null` at the end of the queue. */
  readonly last: MessagePosition | null;
}

/** Queue with the parts that tell its consumers. */
interface LookedQueue extends QueueContext {
  readonly cache: PayloadCache;
  readonly throttle: Throttle;
  /** `null` where nothing is pushed. */
  readonly dispatcher: { readonly deliverer: PushDeliverer | null };
  readonly daemon: { readonly deliverer: DaemonDeliverer | null };
  readonly receivers: { readonly askedMs: number | null };
}

/** Messages of a queue for people: the state of each, and why it is not delivered. */
export class Messages {
  readonly #queue: LookedQueue;
  readonly #configuredWorker: string | null;
  readonly #elapsedMs: () => number;

  /**
   * @param configuredWorker name of the Worker that consumes the queue by the configuration.
   * @param elapsedMs clock in ms that bounds a look.
   */
  constructor(
    queue: LookedQueue,
    configuredWorker: string | null = null,
    elapsedMs = () => performance.now(),
  ) {
    this.#queue = queue;
    this.#configuredWorker = configuredWorker;
    this.#elapsedMs = elapsedMs;
  }

  /**
   * Lists messages that a request looks for. A single one that is not in the queue is looked for among the finished
   * ones. Throws RangeError for an invalid cursor.
   */
  look(request: LookRequest): LookReply {
    const { queue, history } = this.#queue;
    if (asksForFinished(request)) return lookAtFinished(this.#queue, request);
    const { count } = history.finished;
    const ports = { ...this.#search, reasons: new Reasons(queue, this.conditions, this.#idAt) };
    const reply = this.#lookByHistory(ports, request) ?? look(ports, request);
    if (count === 0) return reply;
    const { only, isWaiting = false, countsAll = false } = request;
    const isOver = reply.messages.length === 0 && reply.cursor === null;
    if (only?.length === 1 && isOver && !isWaiting && !countsAll) {
      const { cursor: _, ...first } = request;
      const found = lookAtFinished(this.#queue, first);
      if (found.messages.length > 0) return found;
    }
    return { ...reply, finished: count };
  }

  /** Looks for a single id where the history has seen it; `null` if it is not there, or the request is another one. */
  #lookByHistory(ports: LookPorts, request: LookRequest): LookReply | null {
    const { name, history } = this.#queue;
    const [only = "", ...others] = request.only ?? [];
    const id = only.replaceAll("-", "").toLowerCase();
    if (others.length > 0 || request.cursor !== undefined || !/^[0-9a-f]{32}$/.test(id)) return null;
    const refs = history.placesOf(id).map((place) => refOf(name, place));
    if (refs.length === 0) return null;
    const reply = look(ports, { ...request, only: refs });
    return reply.messages[0]?.id === id ? { ...reply, cursor: null } : null;
  }

  /** Finds the next waiting messages that are looked for, up to `max` messages and about `bytesMax` bytes. */
  find(wanted: Wanted, after: MessagePosition | undefined, max: number, bytesMax: number): Found {
    const positions: MessagePosition[] = [];
    let bytes = 0;
    const found = (range: MessageRange, index: number, payload: PackedIndex) => {
      positions.push({ segmentId: range.segmentId, index });
      bytes += payload.contentBytes(index);
      return positions.length < max && bytes < bytesMax;
    };
    const { last } = search(this.#search, { ...wanted, isWaiting: true }, after, found);
    return { positions, last };
  }

  /** Makes messages due now, by their refs. A message that is leased loses its lease. */
  makeDue(refs: readonly string[]): Promise<MadeDue[]> {
    const { name, queue } = this.#queue;
    return this.#queue.submit(() => {
      const { nowMs } = this.#queue;
      const due: { segmentId: number; from: number; to: number }[] = [];
      const made = refs.map((ref): MadeDue => {
        const position = decodeToken(name, "ref", ref);
        const outcome = position === null ? "gone" : makeDue(queue, position, nowMs);
        if (outcome === "due" && position !== null)
          due.push({ segmentId: position.segmentId, from: position.index, to: position.index + 1 });
        return outcome;
      });
      noteSlices(this.#queue, "retried", due, { by: "admin API", delayMs: 0 });
      return made;
    });
  }

  /** Explains why the queue as a whole delivers nothing more now. */
  why(): QueueWhy {
    const { queue, damage } = this.#queue;
    return whyOfQueue(queue, this.conditions, damage.entries, this.#idAt);
  }

  /** Conditions outside the engine that decide whether messages are delivered. */
  get conditions(): Conditions {
    const { queueName, nowMs, definition, throttle } = this.#queue;
    return {
      queue: queueName,
      nowMs,
      definition,
      deliverer: this.#deliverer,
      room: throttle.room,
      isThrottled: throttle.isOn,
      nextSlotMs: throttle.nextMs,
    };
  }

  get #deliverer(): Deliverer {
    const { dispatcher, daemon, receivers } = this.#queue;
    const known = dispatcher.deliverer ?? daemon.deliverer;
    if (known !== null) return known;
    const consumer = this.#queue.definition?.consumer ?? null;
    if (consumer?.type === "http_pull" || (consumer === null && receivers.askedMs !== null)) {
      return { kind: "clients", askedMs: receivers.askedMs };
    }
    return { kind: "none", expected: workerOf(consumer), configured: this.#configuredWorker };
  }

  readonly #idAt = ({ segmentId, index }: MessagePosition): string | null => {
    const payload = this.#payloadOf(segmentId, () => true);
    return payload !== null && isReadable(payload, index) ? payload.id(index) : null;
  };

  get #search(): SearchPorts {
    return {
      context: this.#queue,
      payloadOf: (segmentId, isWanted) => this.#payloadOf(segmentId, isWanted),
      elapsedMs: this.#elapsedMs,
    };
  }

  /** Reads a segment without keeping it: a look goes through more than memory has room for. */
  #payloadOf(segmentId: number, isWanted: (packed: Uint8Array) => boolean): PackedIndex | null {
    const known = this.#queue.cache.written(segmentId);
    if (known !== undefined) return isWanted(known.packed) ? known : null;
    try {
      const bytes = this.#queue.store.readPayload(segmentId, isWanted);
      return bytes === null ? null : new PackedIndex(bytes);
    } catch {
      // The loss of the segment is reported when its messages are delivered.
      return null;
    }
  }
}
