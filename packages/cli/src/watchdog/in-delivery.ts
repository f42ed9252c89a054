import { join } from "node:path";
import type { InDelivery } from "@sluice/protocol";
import { OBJECTS_FOLDER } from "../data-lock.ts";
import { loadRecovery } from "../serve/standalone/load-modules.ts";

/** Queues that are named in one message; of the others it says how many they are. */
const QUEUES_MAX = 10;

/**
 * Says what is in delivery, a line for each queue, by what is stored: a runtime that hangs or has died can be asked
 * nothing. One of these deliveries may be why it hangs; which one, nobody can tell.
 *
 * @param state the data folder.
 * @param broker name of the broker's Worker.
 */
export async function inDeliveryText(state: string, broker: string): Promise<string> {
  try {
    const { deliveriesIn } = await loadRecovery();
    return describeInDelivery(deliveriesIn({ folder: join(state, OBJECTS_FOLDER), worker: broker }));
  } catch (error) {
    return `What is in delivery cannot be read: ${error}`;
  }
}

/** The text of a list, the longest delivery first. */
export function describeInDelivery(deliveries: readonly InDelivery[]): string {
  if (deliveries.length === 0) return "Nothing is in delivery to a queue() handler.";
  const lines = deliveries
    .slice(0, QUEUES_MAX)
    .map(
      ({ queue, consumer, messages, attempt, sinceMs }) =>
        `  queue "${queue}": ${messages} message(s) with ${consumer} since ` +
        `${new Date(sinceMs).toISOString()}, attempt ${attempt}`,
    );
  const more = deliveries.length - lines.length;
  return ["In delivery:", ...lines, ...(more > 0 ? [`  and ${more} more queue(s)`] : [])].join("\n");
}
