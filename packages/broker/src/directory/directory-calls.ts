import type { DirectoryObject } from "./directory.ts";
import { DIRECTORY_NAME } from "./name.ts";
import type { QueuesDirectory } from "./queue-calls.ts";

/** The directory as a queue's object calls it. Calls reject, and do no more, where the binding is missing. */
export function directoryCalls(namespace: DurableObjectNamespace<DirectoryObject>): QueuesDirectory {
  const object = () => namespace.get(namespace.idFromName(DIRECTORY_NAME));
  return {
    opened: async (queue, copy) => object().opened(queue, copy),
    ensureQueue: async (queue) => object().ensureQueue(queue),
    findByName: async (queue) => object().findByName(queue),
    undeliverable: async (topicObject, queue) => object().undeliverable(topicObject, queue),
    report: async (queue, mark, rest) => object().report(queue, mark, rest),
  };
}
