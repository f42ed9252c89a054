import { isQueueNotFound, type QueueRecord } from "@sluice/protocol";
import { directoryName } from "../queue-address.ts";
import { findQueue, queueDoesNotExist, requestedAddress, type SqsContext } from "./context.ts";
import { refuse, SQS_ERRORS } from "./errors.ts";
import { NUMBER_ATTRIBUTES } from "./queue/attribute-names.ts";
import { sqsOf } from "./queue/dialect.ts";

/** Queues that are remembered: enough for whoever polls them all, and bounded. */
export const KNOWN_QUEUES_MAX = 1_000;
/** How often an action is begun anew because the queue was changed meanwhile. */
const ATTEMPTS_MAX = 20;

/** What sending to a queue and receiving from it goes by. */
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

/** A queue for one request. */
export interface LookedUpQueue extends KnownQueue {
  /** Whether the directory was asked just now. Nobody is refused by what may be out of date. */
  readonly isFresh: boolean;
}

/**
 * What the directory has said of queues. A call to the directory costs as much as the call to the queue itself, so it is
 * asked once for each. What is remembered can be out of date, here or in another isolate, and is never believed alone: the
 * directory tells a queue's object of every change before it answers it, and the object refuses who goes by an older
 * revision, as it refuses everybody once the queue is deleted.
 */
export class KnownQueues {
  readonly #queues = new Map<string, KnownQueue>();

  find(name: string): KnownQueue | undefined {
    return this.#queues.get(name);
  }

  note(record: QueueRecord): KnownQueue {
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

/** Thrown by work on a queue that was, or may be, changed since it was looked up; nothing has been done. */
export class OutdatedQueueError extends Error {
  override readonly name = "OutdatedQueueError";
}

/**
 * Does `work` on the queue that a request names, by what is remembered of it where something is; begins anew when that
 * turns out to be out of date. Throws what `queueOf` throws, and what `work` throws.
 */
export async function onQueue<Result>(
  context: SqsContext,
  url: string | undefined,
  work: (queue: LookedUpQueue) => Promise<Result>,
): Promise<Result> {
  const address = requestedAddress(context, url);
  const name = directoryName(address, context.settings.home);
  const { known } = context;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const remembered = known.find(name);
    try {
      if (remembered !== undefined) return await work({ ...remembered, isFresh: false });
      const record = await findQueue(context, address);
      if (record === null) throw queueDoesNotExist(context);
      return await work({ ...known.note(record), isFresh: true });
    } catch (error) {
      const isOutdated = error instanceof OutdatedQueueError;
      if (isOutdated || isQueueNotFound(error)) known.forget(name);
      if (!isOutdated) throw error;
    }
  }
  throw refuse(SQS_ERRORS.requestThrottled, "The queue is being changed by too many at once. Try again.");
}

function knownQueueOf(record: QueueRecord): KnownQueue {
  const { name, revision, definition } = record;
  const { attributes } = sqsOf(record);
  return {
    name,
    revision,
    isFifo: definition.fifo !== undefined,
    hasContentBasedDeduplication: definition.fifo?.contentBasedDeduplication === true,
    messageBytesMax: Number(attributes.MaximumMessageSize ?? NUMBER_ATTRIBUTES.MaximumMessageSize.standard),
  };
}
