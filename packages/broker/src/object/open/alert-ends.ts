import {
  ALERTS_QUEUE,
  type AlertSettings,
  isHiddenQueue,
  isShard,
  isTopicObject,
  shardOf,
} from "@sluice/protocol";
import { lastReports } from "../../alerts/last-reports.ts";
import { newId } from "../../platform/new-id.ts";
import type { BrokerOptions } from "../broker-env.ts";
import type { StoredQueue } from "./open-store.ts";

/** Settings of the alerts of a queue; `undefined` for none, and for hidden queues and topics. */
export function alertsOf(name: string, { topology }: BrokerOptions): AlertSettings | undefined {
  return isHiddenQueue(shardOf(name).queue) || isTopicObject(name) ? undefined : topology.alerts;
}

/**
 * Sends the ends of the alerts of a queue that was deleted, before what it holds is dropped. Never rejects: the queue
 * is dropped also where its webhook cannot be called, such as on a full disk.
 */
export async function sendAlertEnds({ name, store, host, options, clock }: StoredQueue): Promise<void> {
  const alerts = alertsOf(name, options);
  // Shard 0 calls the webhook for all shards of a queue.
  if (alerts === undefined || isShard(name)) return;
  try {
    const [first, ...more] = lastReports(name, store, {
      format: alerts.format,
      nowMs: clock.now(),
      newMessageId: newId,
    });
    if (first === undefined) return;
    const { SLUICE_QUEUES: queues } = host.env;
    await queues.get(queues.idFromName(ALERTS_QUEUE)).take(ALERTS_QUEUE, { source: name, ...first, more });
  } catch (error) {
    host.log.error(
      `Queue "${name}": it is deleted, and the webhook is not told that its alerts have ended: ${error}`,
    );
  }
}
