import type { QueueObject } from "./queue-object.ts";

/** Pauses delivery: nothing is to be leased for the consumer as soon as the queue has heard of it. */
export function pauseDelivery(queue: QueueObject): void {
  queue.settings.delivery = "paused";
  void notify(queue, true);
}

/** Resumes delivery, if it is paused. */
export function resumeDelivery(queue: QueueObject): void {
  const { settings } = queue;
  if (settings.delivery === "on") return;
  settings.delivery = "resuming";
  void notify(queue, false).then((isTold) => {
    if (isTold && settings.delivery === "resuming") settings.delivery = "on";
  });
}

/** Tells the object, until it has heard it. @returns whether nothing else was said since. */
async function notify(queue: QueueObject, deliveryPaused: boolean): Promise<boolean> {
  const { deployed, loop } = queue.world;
  const before = deployed.record(queue.name);
  if (before === null) return false;
  deployed.change(queue.name, { ...before.definition, deliveryPaused });
  const record = deployed.record(queue.name);
  while (deployed.record(queue.name) === record) {
    try {
      await queue.callAlone("configure", record);
      return deployed.record(queue.name) === record;
    } catch {
      await loop.sleep(1_000);
    }
  }
  return false;
}
