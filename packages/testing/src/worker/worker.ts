/** What the generated entries of the users' Workers import. */
import { createQueueConsumer as createUsualConsumer, type QueueConsumerClass } from "@sluice/consumer";
import type { DeliveryReply } from "@sluice/protocol";
import { type InterruptibleDelivery, interruptedBy, interruptible } from "./interruptions.ts";

export { installProducers } from "@sluice/producer";
export { hideBindings, withFrontDoor } from "sluice/runtime";

/** The usual entrypoint around a user's `queue()`, which a history of faults can interrupt. */
export function createQueueConsumer(
  defaultExport: unknown,
  options: Parameters<typeof createUsualConsumer>[1],
): QueueConsumerClass {
  return class extends createUsualConsumer(interruptible(defaultExport), options) {
    override deliver(delivery: InterruptibleDelivery): Promise<DeliveryReply> {
      const { interruption } = delivery;
      return interruption === undefined
        ? super.deliver(delivery)
        : interruptedBy(interruption, () => super.deliver(delivery));
    }
  };
}
