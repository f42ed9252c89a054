export { changeDelay } from "./commands/change-delay.ts";
export { countAttempts } from "./commands/count-attempts.ts";
export { endPushLeases, expireLeases, expireRetention, oldestMs } from "./commands/expire.ts";
export { type Lease, lease } from "./commands/lease.ts";
export { makeDue } from "./commands/make-due.ts";
export { type MessagePosition, purge, removeMessage } from "./commands/purge.ts";
export {
  changeVisibility,
  deleteReceived,
  factsOf,
  type Receipt,
  VISIBILITY_TOTAL_MS_MAX,
} from "./commands/receipt.ts";
export { type Received, type ReceiveRequest, receive } from "./commands/receive.ts";
export { type Placement, send } from "./commands/send.ts";
export {
  acknowledge,
  giveUp,
  type LeasedRange,
  type RetryOutcome,
  release,
  retry,
} from "./commands/settle.ts";
export { forgetConcurrency } from "./push/concurrency.ts";
export { DELIVERY_BYTES_MAX, nextBatch, type PushEnd, pushEnded } from "./push/dispatch.ts";
export { advance, firstReadyMs } from "./queue/advance.ts";
export { epochOf, firstIdOf, NARROW_EPOCHS_FROM, NARROW_IDS } from "./queue/epochs.ts";
export {
  changeRules,
  createQueue,
  type Queue,
  type QueueRules,
  takeChanges,
} from "./queue/queue.ts";
export { isHeld, reserveSeq } from "./queue/sequence.ts";
export { type HeapNode, TimeHeap } from "./segments/heap.ts";
export type { LeaseKind, Segment, Slice } from "./segments/segment.ts";
export { ByteFormatError } from "./stored/bytes.ts";
export {
  type Accepted,
  DEDUPLICATION_MS,
  DeduplicationMemory,
  decodeRemembered,
  encodeRemembered,
  type Remembered,
} from "./stored/deduplication.ts";
export { encodeIndex, encodeState, restoreSegment } from "./stored/persist.ts";
export { counts, type QueueCounts } from "./views/counts.ts";
export {
  type LookAhead,
  nextDeliveries,
  nextReceives,
} from "./views/look-ahead.ts";
export {
  acceptedMsAt,
  Blockers,
  groupIdAt,
  isHeldBack,
  type MessageRange,
  messageRanges,
  rangeAt,
} from "./views/message-ranges.ts";
export { peek } from "./views/peek.ts";
export { batchDueAt, isSlotAwaited, nextBatchAt, nextExpiryAt, nextWakeAt } from "./views/wake.ts";
