import type { QueueReceiveRpc, QueueWork } from "@sluice/protocol";
import { QueueError } from "@sluice/protocol";
import type { Shards } from "../calls/shards.ts";
import { enqueue } from "../send/send-rules.ts";
import { receiveNow } from "./receive-rules.ts";
import { settleReceipts } from "./settle-rules.ts";

/**
 * Does the work of several requests: deletes and changes on the shards of their receipts, while messages are stored,
 * and then receives. Where deletes or changes fail nothing is received, since the call fails as a whole.
 */
export async function work(
  shards: Shards,
  { enqueue: sent, receive, remove, change }: QueueWork,
): ReturnType<QueueReceiveRpc["work"]> {
  try {
    const settles = remove !== undefined || change !== undefined;
    // Both have ended when either has failed.
    const [settling, storing] = await Promise.allSettled([
      settles ? settleReceipts(shards, { ...(remove && { remove }), ...(change && { change }) }) : null,
      sent === undefined ? null : enqueue(shards, sent),
    ]);
    if (settling.status === "rejected") throw settling.reason;
    if (storing.status === "rejected") throw storing.reason;
    const received = receive === undefined ? undefined : await receiveNow(shards, receive);
    return {
      ok: true,
      ...(storing.value === null ? {} : { enqueued: storing.value }),
      ...(received === undefined ? {} : { received }),
      ...(remove === undefined || settling.value === null ? {} : { removed: settling.value.removed }),
      ...(change === undefined || settling.value === null ? {} : { changed: settling.value.changed }),
    };
  } catch (error) {
    if (error instanceof QueueError) return { ok: false, code: error.code, cause: error.reason };
    throw error;
  }
}
