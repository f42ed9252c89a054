/**
 * Makes workerd's names for the namespaces of the broker's objects, and for their folders: from its Worker and the
 * classes.
 */
export function uniqueKeysOf(worker: string) {
  return { queues: `${worker}-QueueBroker`, directory: `${worker}-Directory` };
}
