import { MESSAGE_ID_BYTES } from "@sluice/protocol";

/** One call for randomness costs about as much as writing ten records, so ids are drawn so many at a time. */
export const MESSAGE_IDS_MAX = 256;
const POOL_BYTES = MESSAGE_IDS_MAX * MESSAGE_ID_BYTES;

let pool = new Uint8Array();
let used = 0;

/**
 * Draws random message ids, one after the other. The bytes are valid until the next call: copy them at once.
 *
 * Do not call it in the global scope, where workerd forbids randomness: the pool is filled at the first send.
 *
 * @param count at most `MESSAGE_IDS_MAX`.
 */
export function takeMessageIds(count: number): Uint8Array {
  const bytes = count * MESSAGE_ID_BYTES;
  if (used + bytes > pool.byteLength) {
    pool = crypto.getRandomValues(new Uint8Array(POOL_BYTES));
    used = 0;
  }
  const ids = pool.subarray(used, used + bytes);
  used += bytes;
  return ids;
}
