import { join } from "node:path";
import { readInDelivery } from "@sluice/broker/in-delivery";
import { objectFile, objectIdsIn, withObjectFile } from "@sluice/objects";
import type { InDelivery } from "@sluice/protocol";
import { uniqueKeysOf } from "./unique-keys.ts";

interface DeliveriesInput {
  /** Folder of all Durable Objects of a data folder. */
  readonly folder: string;
  /** Name of the broker's Worker. */
  readonly worker: string;
}

/**
 * Reads the deliveries that are under way in the queues of a data folder from their files, the longest first: for a
 * broker that does not answer. It changes nothing, so the broker may run. Unreadable files are left out, because the
 * broker reports them when it opens them.
 */
export function deliveriesIn({ folder, worker }: DeliveriesInput): InDelivery[] {
  const queues = join(folder, uniqueKeysOf(worker).queues);
  const all = objectIdsIn(queues).flatMap((id) => {
    try {
      return withObjectFile(
        objectFile(queues, id),
        // The part of the platform's database that is used.
        ({ sql }) => readInDelivery(sql as unknown as SqlStorage) ?? [],
      );
    } catch {
      return [];
    }
  });
  return all.sort((a, b) => a.sinceMs - b.sinceMs);
}
