/** Time that a queue's object needs for what it does, in ms. */
export interface Costs {
  /** Time of its thread for a call, whatever is in it. */
  readonly callMs: number;
  /** Time of its thread for a message in it. */
  readonly messageMs: number;
  /** Time of its thread for a commit, whatever is in it. */
  readonly commitMs: number;
  /** Rows that a commit of sends writes. */
  readonly rowsPerCommit: number;
}

/*
 * Times and limits of the platform that cannot be measured here. They are assumptions; only the rate of requests is
 * documented (https://developers.cloudflare.com/durable-objects/platform/limits/: a soft limit).
 */

/** Requests a second beyond which the platform refuses those to one object. */
export const REQUESTS_PER_SECOND_MAX = 1_000;
/** Requests that it lets through at once after a pause. */
export const REQUESTS_AT_ONCE_MAX = 100;
/** One way from an isolate to an object, in ms: at least this, and up to as much again. */
export const NETWORK_MS = 4;
/**
 * Time until a commit is durable, in ms. The platform confirms it on other machines, and the object's thread is free
 * meanwhile.
 */
export const DURABLE_MS = 5;
