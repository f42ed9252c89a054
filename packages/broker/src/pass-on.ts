import type { HandOver, HandOverReply } from "./ports.ts";
import type { QueueCore } from "./queue-core.ts";
import { takeItems } from "./take.ts";

/**
 * What becomes of messages of a topic whose queue does not exist when they arrive (spec sns-delivery 6.1: a fault of the
 * subscription, so nothing is tried again).
 *
 * - `deadLetter`: they go to the dead-letter queue of the subscription, which they create if it does not exist either.
 * - `dropped`: it has none, or the subscription itself has ended.
 */
export type Undeliverable =
  | { readonly kind: "deadLetter"; readonly queue: string }
  | { readonly kind: "dropped"; readonly reason: string };

/**
 * Takes messages of a topic for a queue that does not exist, and passes them on to the dead-letter queue of their
 * subscription or drops them. What is passed on goes through this object's outbox: noting the hand-over and the intent are
 * one commit, so that a crash neither loses nor doubles them.
 */
export function passOn(core: QueueCore, handOver: HandOver, fate: Undeliverable): Promise<HandOverReply> {
  return core.submit(() => {
    let count = 0;
    const reply = takeItems(core, handOver, (index) => {
      count += index.count;
      if (fate.kind === "deadLetter") core.outbox.put(fate.queue, index.packed);
    });
    const what = `${count} message(s) of a topic for queue "${core.name}"`;
    if (count > 0) {
      core.ports.log.warn(
        fate.kind === "dropped"
          ? `${what} are dropped: ${fate.reason}`
          : `${what}, which does not exist, go to the dead-letter queue "${fate.queue}"`,
      );
    }
    return reply;
  });
}
