/** Costs of the steps of a send in a queue's object. */
export interface Costs {
  /** Time of its thread for each call, without the messages. */
  readonly callMs: number;
  /** Time of its thread for each message of a call. */
  readonly messageMs: number;
  /** Time of its thread for each commit. */
  readonly commitMs: number;
  /** Rows that a commit of sends writes. */
  readonly rowsPerCommit: number;
}

/*
 * Times and limits of the platform that cannot be measured here. They are assumptions; only the rate of requests is
 * documented (https://developers.cloudflare.com/durable-objects/platform/limits/: a soft limit).
 */

/** Most requests a second to one object; the platform refuses more. */
export const REQUESTS_PER_SECOND_MAX = 1_000;
/** Most requests that the platform lets through at once after a pause. */
export const REQUESTS_AT_ONCE_MAX = 100;
/** Shortest time of one way from an isolate to an object, in ms. The longest is twice as long. */
export const NETWORK_MS = 4;
/**
 * Time until a commit is durable, in ms. The platform confirms it on other machines, and the object's thread is free
 * meanwhile.
 */
export const DURABLE_MS = 5;
