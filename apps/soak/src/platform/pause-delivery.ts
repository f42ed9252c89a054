import type { QueueObject } from "./queue-object.ts";

/** Pauses delivery: once the queue's object has taken the record, it must lease nothing for the consumer. */
export function pauseDelivery(queue: QueueObject): void {
  queue.settings.delivery = "paused";
  void notify(queue, true);
}

/** Resumes delivery, if it is paused. */
export function resumeDelivery(queue: QueueObject): void {
  const { settings } = queue;
  if (settings.delivery === "on") return;
  settings.delivery = "resuming";
  void notify(queue, false).then((isLatest) => {
    if (isLatest && settings.delivery === "resuming") settings.delivery = "on";
  });
}

/** Calls the object until it has taken the record. @returns whether that is still the latest record. */
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
