/**
 * List prices in USD beyond what is included. They change: this file is the only place that has them.
 *
 * - Cloudflare: developers.cloudflare.com, `durable-objects/platform/pricing`, `workers/platform/pricing` and
 *   `queues/platform/pricing`, read in November 2026.
 * - Amazon SQS, us-east-1: a list of June 2026 that is not AWS's own. Larger accounts pay less.
 */
export const PRICES_AS_OF = "2026-11";

/** Durable Objects on the Workers Paid plan. */
export const DURABLE_OBJECTS = {
  perMillionRowsWritten: 1,
  perMillionRowsRead: 0.001,
  perMillionRequests: 0.15,
  perMillionGigabyteSeconds: 12.5,
  /** An object is billed as 128 MB, whatever it uses. */
  billedGigabytes: 0.128,
} as const;

/** Price and included usage of the Workers Paid plan in a month, for an account with everything that runs on it. */
export const INCLUDED = {
  planUsd: 5,
  rowsWritten: 50e6,
  rowsRead: 25e9,
  requests: 1e6,
  gigabyteSeconds: 400_000,
} as const;

/** Cloudflare Queues: an operation is 64 KB that are written, read or deleted. */
export const QUEUES_PER_MILLION_OPERATIONS = 0.4;

/** Amazon SQS: a request of up to 64 KB. */
export const SQS_PER_MILLION_REQUESTS = { standard: 0.4, fifo: 0.5 } as const;

/** Unit that Cloudflare Queues and Amazon SQS both bill by, in bytes. */
export const BILLED_BYTES = 64_000;

/** Messages that one request of SQS carries at most. */
export const SQS_BATCH_MAX = 10;
