/**
 * Makes workerd's names for the namespaces of the broker's objects and their folders, from the Worker's name and the
 * classes. A contract: data folders of all releases have them.
 */
export function uniqueKeysOf(worker: string) {
  return { queues: `${worker}-QueueBroker`, directory: `${worker}-Directory` };
}
