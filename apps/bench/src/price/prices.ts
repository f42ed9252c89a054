/** What is billed of a Durable Object for some messages. */
export interface Usage {
  readonly messages: number;
  /** Rows of SQLite, deletes included. */
  readonly rowsWritten: number;
  readonly rowsRead: number;
  /** RPC calls and alarms that ran. */
  readonly requests: number;
  /** `setAlarm` calls: each counts as a row written. */
  readonly alarmsSet: number;
  /** Time in ms during which the object was at work. */
  readonly activeMs: number;
}

/** USD per million messages, by meter. */
export interface Price {
  readonly rowsWritten: number;
  readonly rowsRead: number;
  readonly requests: number;
  readonly duration: number;
  readonly total: number;
}

/**
 * List prices of Durable Objects beyond what a paid plan includes, in USD (spec cloudflare-queues 9.2, November
 * 2026).
 */
export const DURABLE_OBJECT_PRICES = {
  perMillionRowsWritten: 1,
  perMillionRowsRead: 0.001,
  perMillionRequests: 0.15,
  perMillionGigabyteSeconds: 12.5,
  /** An object is billed as 128 MB, whatever it uses. */
  billedGigabytes: 0.128,
} as const;

/**
 * Cloudflare Queues: an operation for each 64 KB written, read or deleted (spec cloudflare-queues 9.1, November
 * 2026).
 */
export const QUEUES_PER_MILLION_OPERATIONS = 0.4;
/** Amazon SQS, standard queue in us-east-1, list price of June 2026 after the free million: up to 64 KB a request. */
export const SQS_PER_MILLION_REQUESTS = 0.4;

/** What the usage costs per million messages, nothing included. */
export function priceOf(usage: Usage): Price {
  const prices = DURABLE_OBJECT_PRICES;
  const per = (amount: number) => amount / usage.messages;
  const rowsWritten = per(usage.rowsWritten + usage.alarmsSet) * prices.perMillionRowsWritten;
  const rowsRead = per(usage.rowsRead) * prices.perMillionRowsRead;
  const requests = per(usage.requests) * prices.perMillionRequests;
  const duration = per(usage.activeMs / 1000) * prices.billedGigabytes * prices.perMillionGigabyteSeconds;
  return { rowsWritten, rowsRead, requests, duration, total: rowsWritten + rowsRead + requests + duration };
}

/**
 * Cloudflare Queues, per million messages: each is written, read and deleted, and every retry reads it again.
 *
 * @param bytes Size of one message.
 */
export function queuesPrice(bytes: number, retries: number): number {
  return (3 + retries) * operationsOf(bytes) * QUEUES_PER_MILLION_OPERATIONS;
}

/**
 * Amazon SQS, per million messages: requests to send, to receive (again with every retry) and to delete, each carrying
 * `perRequest` messages. A request is billed for every 64 KB of it.
 */
export function sqsPrice(bytes: number, retries: number, perRequest: number): number {
  const carrying = operationsOf(bytes * perRequest) / perRequest;
  const deleting = 1 / perRequest;
  return ((2 + retries) * carrying + deleting) * SQS_PER_MILLION_REQUESTS;
}

function operationsOf(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / 64_000));
}
