import {
  type DeleteOutcome,
  type EnqueueReply,
  joinPacked,
  QUEUE_ERROR_CODES,
  type QueueReceiveRpc,
  type ReceiveNowReply,
  type ReceiveRequest,
  type VisibilityChange,
  type VisibilityOutcome,
} from "@sluice/protocol";
import { type KeepAlive, SharedCall } from "./shared-call.ts";

/** Messages of one request. */
export interface MessagesToSend {
  readonly packed: Uint8Array;
  /** How many there are. */
  readonly count: number;
  /** Revision of the queue's record that they were checked by. */
  readonly revision: number;
}

/** Weight of what is small: so that a call takes some hundreds of them. */
const SMALL_WEIGHT = 4_000;

/** The calls to one queue's object that requests share. */
interface Shared {
  readonly enqueue: SharedCall<MessagesToSend, EnqueueReply>;
  readonly receive: SharedCall<ReceiveRequest, ReceiveNowReply>;
  readonly remove: SharedCall<readonly string[], readonly DeleteOutcome[]>;
  readonly change: SharedCall<readonly VisibilityChange[], readonly VisibilityOutcome[]>;
}

/** Calls to queues' objects on behalf of requests, those of the same kind and moment together. */
export class QueueCalls {
  readonly #objectOf: (name: string) => QueueReceiveRpc;
  readonly #now: () => number;
  readonly #queues = new Map<string, Shared>();

  constructor(objectOf: (name: string) => QueueReceiveRpc, now: () => number) {
    this.#objectOf = objectOf;
    this.#now = now;
  }

  /** What is sent together is stored together; each request learns of its own messages. */
  enqueue(name: string, messages: MessagesToSend, keepAlive: KeepAlive): Promise<EnqueueReply> {
    return this.#share(name, "enqueue", messages, keepAlive);
  }

  /** Receives without waiting. */
  receiveNow(name: string, request: ReceiveRequest, keepAlive: KeepAlive): Promise<ReceiveNowReply> {
    return this.#share(name, "receive", request, keepAlive);
  }

  deleteBatch(
    name: string,
    receipts: readonly string[],
    keepAlive: KeepAlive,
  ): Promise<readonly DeleteOutcome[]> {
    return this.#share(name, "remove", receipts, keepAlive);
  }

  changeVisibilityBatch(
    name: string,
    changes: readonly VisibilityChange[],
    keepAlive: KeepAlive,
  ): Promise<readonly VisibilityOutcome[]> {
    return this.#share(name, "change", changes, keepAlive);
  }

  /** Queues of which something is remembered: those that something is under way to. */
  get size(): number {
    return this.#queues.size;
  }

  async #share<Item, Result>(
    name: string,
    kind: keyof Shared,
    item: Item,
    keepAlive: KeepAlive,
  ): Promise<Result> {
    let shared = this.#queues.get(name);
    if (shared === undefined) {
      shared = this.#sharedOf(name);
      this.#queues.set(name, shared);
    }
    const call = shared[kind] as unknown as SharedCall<Item, Result>;
    try {
      return await call.run(item, keepAlive);
    } finally {
      if (this.#queues.get(name) === shared && Object.values(shared).every(({ isIdle }) => isIdle)) {
        this.#queues.delete(name);
      }
    }
  }

  #sharedOf(name: string): Shared {
    const now = this.#now;
    // Each call takes the object anew: it belongs to the request that makes the call.
    const object = () => this.#objectOf(name);
    return {
      enqueue: new SharedCall({
        call: (items) => enqueueAll(object(), name, items),
        weightOf: ({ packed }) => packed.byteLength,
        now,
      }),
      receive: new SharedCall({
        call: (requests) => object().receiveNow(name, requests),
        // What it will be answered with: at most a batch of the largest messages, hardly ever that.
        weightOf: ({ max }) => max * SMALL_WEIGHT,
        now,
      }),
      remove: new SharedCall({
        call: async (lists) => split(await object().deleteBatch(name, lists.flat()), lists),
        weightOf: (receipts) => receipts.length * SMALL_WEIGHT,
        now,
      }),
      change: new SharedCall({
        call: async (lists) => split(await object().changeVisibilityBatch(name, lists.flat()), lists),
        weightOf: (changes) => changes.length * SMALL_WEIGHT,
        now,
      }),
    };
  }
}

async function enqueueAll(
  object: QueueReceiveRpc,
  name: string,
  items: readonly MessagesToSend[],
): Promise<readonly EnqueueReply[]> {
  // Who goes by an older revision than the others makes all of them begin anew: rare, and nothing is lost by it.
  const revision = Math.min(...items.map((item) => item.revision));
  const reply = await object.enqueue(name, {
    packed: joinPacked(items.map(({ packed }) => packed)),
    revision,
  });
  if (reply.ok !== true) {
    if (items.length === 1 || !isOfOne(reply)) return items.map(() => reply);
    return (await Promise.all(items.map((item) => enqueueAll(object, name, [item])))).flat();
  }
  let from = 0;
  return items.map(({ count }) => {
    const messages = reply.messages.slice(from, from + count);
    from += count;
    return { ok: true, messages };
  });
}

/** Whether the messages of one request may be what others were refused for: nothing was stored, so each can go alone. */
function isOfOne(reply: Exclude<EnqueueReply, { ok: true }>): boolean {
  return reply.ok !== "outdated" && reply.code !== QUEUE_ERROR_CODES.queueNotFound;
}

/** Outcomes of a call back into the lists that it was made of. */
function split<Outcome>(outcomes: readonly Outcome[], lists: readonly (readonly unknown[])[]): Outcome[][] {
  let from = 0;
  return lists.map(({ length }) => {
    const own = outcomes.slice(from, from + length);
    from += length;
    return own;
  });
}
