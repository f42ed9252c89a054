/**
 * Usage of a queue's object that Cloudflare bills for a calendar month, and the messages that it was for. It is counted
 * in memory and stored with the reports of the queue: a crash loses the counts since the latest report, five seconds at
 * most. A contract: its counts are stored in the order of `NOTHING` in `month-usage.ts`. Counts are appended, never
 * reordered.
 */
export interface QueueUsage {
  /** The month, in UTC: `2026-11`. */
  readonly month: string;
  /** When the counting began, in ms since 1970: at the beginning of the month, or when the queue began to count. */
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
  /** Bytes of these messages with their attributes, and the units of 64,000 bytes that are billed for them. */
  readonly messageBytes: number;
  readonly messageChunks: number;
  /** Deliveries of messages, each retry counted again. */
  readonly deliveries: number;
}

/** Adds the usage of several objects, of those that have counted in the latest month. */
export function sumOfUsage(all: readonly QueueUsage[]): QueueUsage {
  const months = all.map(({ month }) => month).sort();
  const month = months.at(-1) ?? "";
  const parts = all.filter((part) => part.month === month);
  // An object of an earlier release may lack a count.
  const sum = (countOf: (part: QueueUsage) => number | undefined) =>
    parts.reduce((total, part) => total + (countOf(part) ?? 0), 0);
  return {
    month,
    sinceMs: Math.min(...parts.map(({ sinceMs }) => sinceMs)),
    rowsWritten: sum((part) => part.rowsWritten),
    rowsRead: sum((part) => part.rowsRead),
    requests: sum((part) => part.requests),
    awakeMs: sum((part) => part.awakeMs),
    messages: sum((part) => part.messages),
    messageBytes: sum((part) => part.messageBytes),
    messageChunks: sum((part) => part.messageChunks),
    deliveries: sum((part) => part.deliveries),
  };
}
