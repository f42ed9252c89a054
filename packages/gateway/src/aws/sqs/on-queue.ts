import { isQueueNotFound } from "@sluice/protocol";
import { directoryName } from "../queue-address.ts";
import { parseQueueUrl } from "./address.ts";
import { checkQueue, findByName, queueDoesNotExist, requestedUrl, type SqsContext } from "./context.ts";
import { refuse, SQS_ERRORS } from "./errors.ts";
import type { KnownQueues, LookedUpQueue } from "./known-queues.ts";

/** Most attempts at an action whose queue is changed meanwhile. */
const ATTEMPTS_MAX = 20;

/** Error of an action that went by outdated facts about a queue: the action has to be repeated. */
export class OutdatedQueueError extends Error {
  override readonly name = "OutdatedQueueError";
}

/**
 * Does `work` on the queue that a request names. Goes by the remembered facts of the queue, and repeats `work` if they
 * turn out to be out of date. Throws what `queueOf` throws, and what `work` rejects with.
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
    const remembered = known.find(name);
    try {
      if (remembered !== undefined) return await work(remembered);
      const record = await findByName(context, name);
      if (record === null) throw queueDoesNotExist(context);
      return await work({ ...known.note(record), isFresh: true });
    } catch (error) {
      forgetOutdated(known, name, error);
    }
  }
  throw refuse(SQS_ERRORS.requestThrottled, "The queue is being changed by too many at once. Try again.");
}

/** Forgets a queue that was out of date or is deleted. Throws `error` if repeating the action would not help. */
function forgetOutdated(known: KnownQueues, name: string, error: unknown): void {
  const isOutdated = error instanceof OutdatedQueueError;
  if (isOutdated || isQueueNotFound(error)) known.forget(name);
  if (!isOutdated) throw error;
}
