import type { QueueUsage } from "@sluice/protocol";

/** Usage of a Durable Object, which Cloudflare bills beside the rows of its database. */
export interface MeterReading {
  /** RPC calls from outside and alarms that ran. */
  readonly requests: number;
  readonly alarms: number;
  /** `setAlarm` calls: each is billed as a row written. */
  readonly alarmsSet: number;
  /** Waits for a commit to be durable. */
  readonly syncs: number;
  /** Time in ms during which a call, an alarm or a delivery was running. */
  readonly activeMs: number;
}

/** Reading of the meter, with the usage that the object itself has counted. */
export interface Bill extends MeterReading {
  readonly usage: QueueUsage;
}
