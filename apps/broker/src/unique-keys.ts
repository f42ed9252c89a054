/** What workerd calls the namespaces of the broker's objects, and their folders: by its Worker and the classes. */
export function uniqueKeysOf(worker: string) {
  return { queues: `${worker}-QueueBroker`, directory: `${worker}-Directory` };
}
