export { advance } from "./advance.ts";
export { ByteFormatError } from "./bytes.ts";
export { changeDelay } from "./change-delay.ts";
export {
  type Accepted,
  DEDUPLICATION_MS,
  DeduplicationMemory,
  decodeRemembered,
  encodeRemembered,
  type Remembered,
} from "./deduplication.ts";
export { BATCH_BYTES_MAX, nextBatch, type PushEnd, pushEnded } from "./dispatch.ts";
export type { LeaseKind } from "./entry.ts";
export { endPushLeases, expireLeases, expireRetention } from "./expire.ts";
export { isHeld, reserveSeq } from "./held.ts";
export { type Lease, type LeaseRequest, lease, type Slice } from "./lease.ts";
export { counts, type QueueCounts } from "./metrics.ts";
export { peek } from "./peek.ts";
export { encodeIndex, encodeState, restoreSegment } from "./persist.ts";
export { purge } from "./purge.ts";
export {
  changeRules,
  createQueue,
  type Queue,
  type QueueRules,
  type SegmentChange,
  takeChanges,
} from "./queue.ts";
export { firstReadyMs } from "./ready.ts";
export {
  changeVisibility,
  deleteReceived,
  factsOf,
  type NewVisibility,
  type Receipt,
  type ReceivedFacts,
  VISIBILITY_TOTAL_MS_MAX,
} from "./receipt.ts";
export { type Received, type ReceiveRequest, receive } from "./receive.ts";
export { type MessagePosition, removeMessage } from "./remove.ts";
export { type NewMessages, type Placement, send } from "./send.ts";
export { acknowledge, giveUp, type LeasedRange, type RetryOutcome, release, retry } from "./settle.ts";
export { isSlotAwaited, nextBatchAt, nextWakeAt } from "./wake.ts";
