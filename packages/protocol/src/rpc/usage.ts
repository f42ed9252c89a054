/**
 * Usage of a queue's object that Cloudflare bills for a calendar month, and the messages that it was for. It is counted
 * in memory and stored with the reports of the queue: a crash loses what was counted since the latest, five seconds at
 * most.
 */
export interface QueueUsage {
  /** The month, in UTC: `2026-11`. */
  readonly month: string;
  /** Since when it is counted, in ms since 1970: the beginning of the month, or the moment at which the queue began. */
  readonly sinceMs: number;
  /** Rows written: inserts, updates, deletes, alarms that were set, and the reports to the directory. */
  readonly rowsWritten: number;
  readonly rowsRead: number;
  /** Calls of the object, alarms, and calls of the object to the directory. */
  readonly requests: number;
  /** How long the object could not sleep: a call, a delivery, a commit or a timer was under way. In ms. */
  readonly awakeMs: number;
  /** Messages that came in, those of other queues included. */
  readonly messages: number;
  /** Bytes of these with what is sent along, and how many times 64,000 bytes were begun with them. */
  readonly messageBytes: number;
  readonly messageChunks: number;
  /** Messages that somebody was given, again and again when they were retried. */
  readonly deliveries: number;
}
