/** Exports for the generated entries of the users' Workers. */
import { env } from "cloudflare:workers";
import { createQueueConsumer as createUsualConsumer, type QueueConsumerClass } from "@sluice/consumer";
import { installProducers as installUsualProducers } from "@sluice/producer";
import type { DeliveryReply } from "@sluice/protocol";
import { type InterruptibleDelivery, interruptedBy, interruptible } from "./interruptions.ts";
import { keepMethodsOfConsole } from "./kept-methods.ts";
import { watchBinding, watchCalls } from "./watch-bindings.ts";

export { hideBindings, watchConsole, withFrontDoor } from "@sluice/project/runtime/worker";

// This module is imported before the user's modules.
watchCalls(env);

/** Puts queues into `env`, and watches their calls like those of other bindings. */
export const installProducers: typeof installUsualProducers = (bindings, specs, options) => {
  installUsualProducers(bindings, specs, options);
  for (const { binding } of specs) watchBinding(bindings, binding);
};

/** Makes the usual entrypoint around a user's `queue()`, which a history of faults can interrupt. */
export function createQueueConsumer(
  defaultExport: unknown,
  options: Parameters<typeof createUsualConsumer>[1],
): QueueConsumerClass {
  return class extends createUsualConsumer(interruptible(defaultExport), options) {
    override deliver(delivery: InterruptibleDelivery): Promise<DeliveryReply> {
      keepMethodsOfConsole();
      const { interruption } = delivery;
      return interruption === undefined
        ? super.deliver(delivery)
        : interruptedBy(interruption, () => super.deliver(delivery));
    }
  };
}
