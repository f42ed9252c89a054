import { isQueueNotFound, type QueueRecord } from "@sluice/protocol";
import { directoryName, type Home } from "../queue-address.ts";
import { parseQueueUrl } from "./address.ts";
import { findByName, queueDoesNotExist, requestedUrl, type SqsContext } from "./context.ts";
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

/** Longest URL of which is remembered what queue it names: that of a queue's longest name, and some. */
const URL_LENGTH_MAX = 512;

/** Which queue a URL names for a caller: what it does not say is the caller's. */
interface NamedQueue {
  readonly url: string;
  readonly caller: Home;
  readonly name: string;
}

/**
 * What the directory has said of queues. A call to the directory costs as much as the call to the queue itself, so it is
 * asked once for each. What is remembered can be out of date, here or in another isolate, and is never believed alone: the
 * directory tells a queue's object of every change before it answers it, and the object refuses who goes by an older
 * revision, as it refuses everybody once the queue is deleted.
 *
 * The URL that a queue was found by is remembered too: to read one again and again took as long as to read the request. That
 * cannot be out of date.
 */
export class KnownQueues {
  readonly #queues = new Map<string, LookedUpQueue>();
  readonly #names = new Map<string, NamedQueue>();
  /** The one that was found last: to compare a URL takes a tenth of the time that the map does, which makes a hash of it. */
  #latest: NamedQueue | undefined;

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

  /** The name of the queue that was found by a URL; `undefined` if none was by this caller. */
  nameOf(url: string, { region, account }: Home): string | undefined {
    const named = this.#latest?.url === url ? this.#latest : this.#names.get(url);
    if (named?.caller.region !== region || named.caller.account !== account) return undefined;
    this.#latest = named;
    return named.name;
  }

  noteName(url: string, { region, account }: Home, name: string): void {
    if (url.length > URL_LENGTH_MAX) return;
    if (this.#names.size >= KNOWN_QUEUES_MAX) this.#names.clear();
    this.#latest = { url, caller: { region, account }, name };
    this.#names.set(url, this.#latest);
  }
}

/** What was remembered of a queue is not what it is any more: the action has to begin anew. */
export class OutdatedQueueError extends Error {
  override readonly name = "OutdatedQueueError";
}

/**
 * Does `work` on the queue that a request names, by what is remembered of it where something is; begins anew when that
 * turns out to be out of date. Throws what `queueOf` throws, and what `work` rejects with.
 */
export function onQueue<Result>(
  context: SqsContext,
  url: string | undefined,
  work: (queue: LookedUpQueue) => Promise<Result>,
): Promise<Result> {
  const { known, caller } = context;
  const text = requestedUrl(context, url);
  const name =
    known.nameOf(text, caller) ?? directoryName(parseQueueUrl(text, caller), context.settings.home);
  const remembered = known.find(name);
  if (remembered === undefined) return begunAnew(context, text, name, work);
  // Nearly always all that there is to do. With 50 senders an async function was a tenth of all the memory that their requests took.
  return work(remembered).catch((error) => {
    forgetOutdated(known, name, error);
    return begunAnew(context, text, name, work);
  });
}

async function begunAnew<Result>(
  context: SqsContext,
  url: string,
  name: string,
  work: (queue: LookedUpQueue) => Promise<Result>,
): Promise<Result> {
  const { known, caller } = context;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const remembered = known.find(name);
    try {
      if (remembered !== undefined) return await work(remembered);
      const record = await findByName(context, name);
      if (record === null) throw queueDoesNotExist(context);
      known.noteName(url, caller, name);
      return await work({ ...known.note(record), isFresh: true });
    } catch (error) {
      forgetOutdated(known, name, error);
    }
  }
  throw refuse(SQS_ERRORS.requestThrottled, "The queue is being changed by too many at once. Try again.");
}

/** Forgets the queue if that is what failed. Throws what is no reason to begin anew. */
function forgetOutdated(known: KnownQueues, name: string, error: unknown): void {
  const isOutdated = error instanceof OutdatedQueueError;
  if (isOutdated || isQueueNotFound(error)) known.forget(name);
  if (!isOutdated) throw error;
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
