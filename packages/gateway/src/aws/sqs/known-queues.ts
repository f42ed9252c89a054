import type { QueueRecord } from "@sluice/protocol";
import { NUMBER_ATTRIBUTES } from "./queue/attribute-names.ts";
import { sqsOf } from "./queue/dialect.ts";

/** Most queues that are remembered, for clients that poll many of them. */
export const KNOWN_QUEUES_MAX = 1_000;

/** Facts about a queue by which messages are sent to it and received from it. */
export interface KnownQueue {
  /** Its name in the directory. */
  readonly name: string;
  /** Revision of the record that the rest was read from. */
  readonly revision: number;
  readonly isFifo: boolean;
  readonly hasContentBasedDeduplication: boolean;
  /** Most bytes of one message, attributes included. */
  readonly messageBytesMax: number;
}

/** Facts about a queue, as one request uses them. */
export interface LookedUpQueue extends KnownQueue {
  /** Whether the directory was asked just now. Only then may these facts refuse a request. */
  readonly isFresh: boolean;
}

/**
 * Cache of queues, as the directory has described them. A call to the directory costs as much as the call to the queue
 * itself, so it is asked once for each. An entry can be out of date, and refuses no request by itself. The directory
 * notifies a queue's object of every change before it answers it. The object refuses a request that goes by an older
 * revision, and all once the queue is deleted.
 */
export class KnownQueues {
  readonly #queues = new Map<string, LookedUpQueue>();

  find(name: string): LookedUpQueue | undefined {
    return this.#queues.get(name);
  }

  note(record: QueueRecord): LookedUpQueue {
    const queue = knownQueueOf(record);
    this.#queues.delete(queue.name);
    this.#queues.set(queue.name, queue);
    const [oldest] = this.#queues.keys();
    if (this.#queues.size > KNOWN_QUEUES_MAX && oldest !== undefined) this.#queues.delete(oldest);
    return queue;
  }

  forget(name: string): void {
    this.#queues.delete(name);
  }
}

function knownQueueOf(record: QueueRecord): LookedUpQueue {
  const { name, revision, definition } = record;
  const { attributes } = sqsOf(record);
  return {
    name,
    revision,
    isFifo: definition.fifo !== undefined,
    hasContentBasedDeduplication: definition.fifo?.contentBasedDeduplication === true,
    messageBytesMax: Number(attributes.MaximumMessageSize ?? NUMBER_ATTRIBUTES.MaximumMessageSize.standard),
    isFresh: false,
  };
}
