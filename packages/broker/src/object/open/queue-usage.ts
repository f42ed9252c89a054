import type { QueueUsage } from "@sluice/protocol";
import type { Host } from "../../platform/host.ts";
import type { QueueCore } from "../../queue/queue-core.ts";
import type { SqliteStore } from "../../store/sqlite-store.ts";
import type { AwakeTime } from "../../usage/awake-time.ts";
import { MonthUsage } from "../../usage/month-usage.ts";
import type { Alarm } from "../alarm.ts";

/** Where the object of a queue counts what Cloudflare bills. */
export interface UsageSources {
  readonly host: Pick<Host, "systemMs">;
  readonly store: SqliteStore;
  readonly alarm: Alarm;
  readonly awake: AwakeTime;
  readonly core: QueueCore;
  /** Calls of the object. */
  readonly requests: () => number;
  readonly directory: DirectoryCalls;
}

/** Requests of the object to the directory's, and rows that these write: both are billed too. */
export interface DirectoryCalls {
  requests: number;
  rowsWritten: number;
}

/**
 * Makes a function that tells this month's usage of a queue's object, by the machine's clock: a bill knows no other.
 */
export function usageOf({
  host,
  store,
  alarm,
  awake,
  core,
  requests,
  directory,
}: UsageSources): () => QueueUsage {
  const counts = () => ({
    rowsWritten: store.rowsWritten + alarm.timesWritten + directory.rowsWritten,
    rowsRead: store.rowsRead,
    requests: requests() + alarm.rings + directory.requests,
    awakeMs: awake.totalMs,
    ...core.intake.accepted,
    deliveries: core.queue.deliveries,
  });
  const month = new MonthUsage(counts, store.readUsage(), host.systemMs());
  return () => month.read(host.systemMs());
}
