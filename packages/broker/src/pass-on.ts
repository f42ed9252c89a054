import type { Undeliverable } from "./directory/topics/undeliverable.ts";
import type { HandOver } from "./ports.ts";
import type { QueueCore } from "./queue-core.ts";

/**
 * Takes messages of a topic for a queue that does not exist, and passes them on to the dead-letter queue of their
 * subscription or drops them. What is passed on goes through this object's outbox: noting the hand-over and the intent are
 * one commit, so that a crash neither loses nor doubles them.
 */
export function passOn(
  core: QueueCore,
  { source, id, packed }: HandOver,
  fate: Undeliverable,
): Promise<void> {
  return core.submit(() => {
    if (id <= core.outbox.takenFrom(source)) return;
    const { store, log } = core.ports;
    core.outbox.noteTaken(source, id);
    core.write(() => store.writeInbox(source, id));
    const what = `Messages of a topic for queue "${core.name}"`;
    if (fate.kind === "dropped") log.warn(`${what} are dropped: ${fate.reason}`);
    else {
      core.outbox.put(fate.queue, packed);
      log.warn(`${what}, which does not exist, go to the dead-letter queue "${fate.queue}"`);
    }
  });
}
