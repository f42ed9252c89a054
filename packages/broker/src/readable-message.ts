import { isReadable as isReadableRecord } from "@sluice/protocol";
import type { QueueCore } from "./queue-core.ts";

/** Whether a message can be read. One that cannot is reported as lost; the caller takes it out of the queue. */
export function isReadable(core: QueueCore, segmentId: number, index: number): boolean {
  let reason: unknown = "its bytes are not what was stored";
  try {
    if (isReadableRecord(core.payloadOf(segmentId), index)) return true;
  } catch (error) {
    reason = error;
  }
  core.damage.messagesLost({ segmentId, from: index, to: index + 1 }, 1, reason);
  return false;
}
