import { isQueueNotFound } from "@sluice/protocol";
import { directoryName } from "../queue-address.ts";
import { parseQueueUrl } from "./address.ts";
import { checkQueue, findByName, queueDoesNotExist, requestedUrl, type SqsContext } from "./context.ts";
import { refuse, SQS_ERRORS } from "./errors.ts";
import type { KnownQueues, LookedUpQueue } from "./known-queues.ts";

/** Most attempts at an action while others keep changing its queue. */
const ATTEMPTS_MAX = 20;

/** Thrown by an action that may have used outdated facts about its queue. `onQueue` repeats the action. */
export class OutdatedQueueError extends Error {
  override readonly name = "OutdatedQueueError";
}

/**
 * Calls `work` with the queue that a request names. Uses cached facts about the queue, to save the call to the
 * directory. If `work` throws an `OutdatedQueueError`, which it does before it changes anything, `work` is called again
 * with fresh facts.
 *
 * @param url the `QueueUrl`; `undefined` where the path names the queue.
 * @throws AwsError for a queue that cannot be used or found, and `RequestThrottled` after too many attempts; any other
 *   error of `work`.
 */
export async function onQueue<Result>(
  context: SqsContext,
  url: string | undefined,
  work: (queue: LookedUpQueue) => Promise<Result>,
): Promise<Result> {
  const { known, caller, settings } = context;
  const name = directoryName(parseQueueUrl(requestedUrl(context, url), caller), settings.home);
  checkQueue(context, name);
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const cached = known.find(name);
    try {
      if (cached !== undefined) return await work(cached);
      const record = await findByName(context, name);
      if (record === null) throw queueDoesNotExist(context);
      return await work({ ...known.note(record), isFresh: true });
    } catch (error) {
      forgetOrThrow(known, name, error);
    }
  }
  throw refuse(SQS_ERRORS.requestThrottled, "The queue is being changed by too many at once. Try again.");
}

/** Forgets outdated facts about a queue, and those of a deleted one. Throws all errors but an `OutdatedQueueError`. */
function forgetOrThrow(known: KnownQueues, name: string, error: unknown): void {
  const isOutdated = error instanceof OutdatedQueueError;
  if (isOutdated || isQueueNotFound(error)) known.forget(name);
  if (!isOutdated) throw error;
}
