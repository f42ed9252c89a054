import { FairOrder } from "../order/fair-order.ts";
import { FifoOrder } from "../order/fifo-order.ts";
import type { GroupOrder } from "../order/group-order.ts";
import { TimeHeap } from "../segments/heap.ts";
import type { Entry, Group, Segment, SegmentNode } from "../segments/segment.ts";
import { epochOf, firstIdOf } from "./epochs.ts";

/** Settings of a queue's consumer, in the engine's units. */
export interface QueueRules {
  /** Most messages in one push delivery. */
  maxBatchSize: number;
  /** Longest that a ready message waits for a batch to fill, in ms. */
  batchTimeoutMs: number;
  /** Deliveries after the first one; the next failure is the message's death. */
  maxRetries: number;
  /** Most push deliveries at a time; `null` scales by backlog and failures. */
  maxConcurrency: number | null;
  /**
   * Whether the number of deliveries grows and shrinks up to `maxConcurrency`. Default true; false begins with all of
   * them.
   */
  scalesConcurrency?: boolean;
  /** Delay of a retry that names none, in ms. */
  retryDelayMs: number;
  /** How long a message is kept, counted from when it was accepted, in ms. */
  retentionMs: number;
  /** Longest push delivery, in ms. */
  pushLeaseMs: number;
  /** Whether messages of a group leave strictly in order. Fixed when the queue is created. Default false. */
  fifo?: boolean;
}

/**
 * Kind of write that a commit has to do for a segment.
 *
 * - `created`: the payload and everything about it is new.
 * - `appended`: messages were added to its payload; what happened to the others did not change.
 * - `touched`: what happened to its messages changed, the payload did not.
 * - `appendedAndTouched`: both.
 * - `gone`: no message is left; the segment and its state can be deleted.
 */
export type SegmentChange = "created" | "appended" | "touched" | "appendedAndTouched" | "gone";

/** Number of deliveries that may run at a time, and the outcomes that it was learnt from. */
export interface PushState {
  inFlight: number;
  inFlightBytes: number;
  target: number;
  /** Latest deliveries in a row that left nothing to do. */
  idleEnds: number;
  /** Outcomes of the latest deliveries, newest last: true = failed. */
  readonly failures: boolean[];
}

/**
 * State of one queue. The caller owns it, and only functions of this package change it, in place. The time is an
 * argument of theirs: nothing in here reads a clock, storage or randomness.
 */
export interface Queue {
  rules: QueueRules;
  /** In order of creation, so the first is the oldest. */
  readonly segments: Map<number, Segment>;
  /** Waiting and due, in order of leaving. */
  readonly ready: TimeHeap<Entry | SegmentNode | Group>;
  /** Waiting and not due yet. */
  readonly delayed: TimeHeap<Entry | SegmentNode>;
  /** Leased, by expiry. */
  readonly leased: TimeHeap<Entry>;
  readyCount: number;
  delayedCount: number;
  leasedCount: number;
  /** Body bytes of ready and delayed messages. */
  waitingBytes: number;
  nextSegmentId: number;
  nextSeq: number;
  nextLeaseId: number;
  /** Deliveries since the queue was created or restored: each lease of a message is one. */
  deliveries: number;
  /** Segments that messages may still be appended to (`send`). */
  readonly tails: Segment[];
  /**
   * Whether `runs.oldestMs` never falls from one segment to the next. False from the first message that came with an
   * age of its own (`NewMessages.acceptedMs`) until the queue is empty.
   */
  isAgeOrdered: boolean;
  /** When the oldest message of the segment that was restored last was accepted, in ms; 0 while none was restored. */
  restoredToMs: number;
  isFifo: boolean;
  /** How messages with groups leave; `null` on a standard queue that has none. */
  order: GroupOrder | null;
  readonly push: PushState;
  /** Changes since the last `takeChanges`. */
  readonly changes: Map<number, SegmentChange>;
}

/**
 * Makes an empty queue.
 *
 * @param epoch Number of times this queue was started. Its ids begin at `firstIdOf(epoch)`.
 */
export function createQueue(rules: QueueRules, epoch: number): Queue {
  const isFifo = rules.fifo === true;
  return {
    rules,
    segments: new Map(),
    ready: new TimeHeap(),
    delayed: new TimeHeap(),
    leased: new TimeHeap(),
    readyCount: 0,
    delayedCount: 0,
    leasedCount: 0,
    waitingBytes: 0,
    nextSegmentId: firstIdOf(epoch) + 1,
    // Senders to a FIFO queue see the numbers, so they grow even when all messages that had the last ones are gone.
    nextSeq: isFifo ? firstIdOf(epoch) + 1 : 0,
    nextLeaseId: firstIdOf(epoch) + 1,
    deliveries: 0,
    tails: [],
    isAgeOrdered: true,
    restoredToMs: 0,
    isFifo,
    order: isFifo ? new FifoOrder() : null,
    push: { inFlight: 0, inFlightBytes: 0, target: 1, failures: [], idleEnds: 0 },
    changes: new Map(),
  };
}

/**
 * Applies other rules from now on. A queue is created as a FIFO queue or as a standard one, but its object can start
 * earlier than that: so `fifo` changes at once while there is no message, and at the next start otherwise.
 */
export function changeRules(queue: Queue, rules: QueueRules): void {
  queue.rules = rules;
  const isFifo = rules.fifo === true;
  if (isFifo === queue.isFifo || queue.segments.size > 0) return;
  // No group of the old order may stay in the heap.
  queue.order?.sortGroups(queue);
  queue.isFifo = isFifo;
  queue.order = isFifo ? new FifoOrder() : null;
  const epoch = epochOf(queue.nextSegmentId);
  queue.nextSeq = Math.max(queue.nextSeq, firstIdOf(epoch) + 1);
}

/** Returns the order of the queue's groups. A standard queue gets one with its first message that names a group. */
export function orderOf(queue: Queue): GroupOrder {
  queue.order ??= new FairOrder();
  return queue.order;
}

/** Order that the messages of a segment leave in; `null` for a segment without groups. */
export function orderIn(queue: Queue, segment: Segment): GroupOrder | null {
  return segment.groups === null ? null : queue.order;
}

/**
 * Notes a change of a segment for the next commit, and joins it with an earlier one: a created segment that is touched
 * is still to be created.
 */
export function noteChange(queue: Queue, segment: Segment, change: Exclude<SegmentChange, "gone">): void {
  const known = queue.changes.get(segment.id);
  if (known === undefined) queue.changes.set(segment.id, change);
  else if (known !== "created" && known !== change) queue.changes.set(segment.id, "appendedAndTouched");
}

/**
 * Returns the changes that the next commit has to write, in the order of each segment's first change, and starts a new
 * list.
 */
export function takeChanges(queue: Queue): [segmentId: number, change: SegmentChange][] {
  const changes = [...queue.changes];
  queue.changes.clear();
  return changes;
}
