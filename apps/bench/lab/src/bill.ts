/** What Cloudflare bills of a Durable Object beside the rows of its database. */
export interface MeterReading {
  /** RPC calls from outside, and alarms that ran. */
  readonly requests: number;
  readonly alarms: number;
  /** `setAlarm` calls: each is billed as a row written. */
  readonly alarmsSet: number;
  /** Time in ms during which a call, an alarm or a delivery was running. */
  readonly activeMs: number;
}

/** Everything that is billed for one queue since its object started. */
export interface Bill extends MeterReading {
  readonly rowsWritten: number;
  readonly rowsRead: number;
}
