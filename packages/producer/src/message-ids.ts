import { MESSAGE_ID_BYTES } from "@sluice/protocol";

/** One call for randomness costs about as much as writing ten records, so ids are drawn 256 at a time. */
const POOL_BYTES = 256 * MESSAGE_ID_BYTES;

let pool = new Uint8Array();
let used = 0;

/**
 * A random message id. The bytes are good until the next call: copy them at once.
 *
 * Not for the global scope, where workerd forbids randomness; so the pool is filled at the first send.
 */
export function takeMessageId(): Uint8Array {
  if (used === pool.byteLength) {
    pool = crypto.getRandomValues(new Uint8Array(POOL_BYTES));
    used = 0;
  }
  const id = pool.subarray(used, used + MESSAGE_ID_BYTES);
  used += MESSAGE_ID_BYTES;
  return id;
}
