import { join } from "node:path";
import type { InDelivery } from "@sluice/protocol";
import { plural } from "@sluice/protocol/words";
import { OBJECTS_FOLDER } from "../data/data-lock.ts";
import { loadRecovery } from "../node/load-modules.ts";

/** Most queues that are named in one message; the others are counted. */
const QUEUES_MAX = 10;

/** Deliveries under way, the longest first, or the reason why they cannot be read. */
export type DeliveriesRead =
  | { readonly kind: "read"; readonly deliveries: readonly InDelivery[] }
  | { readonly kind: "unreadable"; readonly error: unknown };

/**
 * Reads the deliveries under way from the stored data, since a runtime that hangs or has died does not answer.
 *
 * @param state the data folder.
 * @param broker name of the broker's Worker.
 */
export async function readDeliveries(state: string, broker: string): Promise<DeliveriesRead> {
  try {
    const { deliveriesIn } = await loadRecovery();
    const deliveries = deliveriesIn({ folder: join(state, OBJECTS_FOLDER), worker: broker });
    return { kind: "read", deliveries };
  } catch (error) {
    return { kind: "unreadable", error };
  }
}

/** Lists the Workers that have deliveries, once for each queue; `null` if that is not known. */
export function workersIn(read: DeliveriesRead): readonly string[] | null {
  return read.kind === "unreadable" ? null : read.deliveries.flatMap(({ worker }) => worker ?? []);
}

/** Formats the deliveries under way, a line for each queue. */
export function describeInDelivery(read: DeliveriesRead): string {
  if (read.kind === "unreadable") return `What is in delivery cannot be read: ${read.error}`;
  const { deliveries } = read;
  if (deliveries.length === 0) return "Nothing is in delivery to a queue() handler.";
  const lines = deliveries
    .slice(0, QUEUES_MAX)
    .map(
      ({ queue, worker, messages, attempt, sinceMs }) =>
        `  queue "${queue}": ${plural(messages, "message")} with ${worker ?? "an HTTP endpoint"} since ` +
        `${new Date(sinceMs).toISOString()}, attempt ${attempt}`,
    );
  const more = deliveries.length - lines.length;
  return ["In delivery:", ...lines, ...(more > 0 ? [`  and ${plural(more, "more queue")}`] : [])].join("\n");
}
