import { isNoisy } from "../order/fair-order.ts";
import { isReady } from "../order/fifo-order.ts";
import { visibleSinceMs } from "../order/group-order.ts";
import { advance } from "../queue/advance.ts";
import type { Queue } from "../queue/queue.ts";
import { type HeapNode, isBefore, TimeHeap } from "../segments/heap.ts";
import { Entry, Group, type Segment, type SegmentNode } from "../segments/segment.ts";

/** Ready messages [from, to) of a segment that leave one after the other. */
interface Stretch extends HeapNode {
  readonly group: null;
  readonly segment: Segment;
  from: number;
  readonly to: number;
  readonly attempts: number;
  /** Whether the next run of the segment comes after it. */
  readonly isUntouched: boolean;
}

/** The messages of a group from `place` on. */
interface Line extends HeapNode {
  readonly group: Group;
  /** Place of its next message in the list of the group. */
  place: number;
  inFlight: number;
  isNoisy: boolean;
}

/** Limits of one lease that is looked ahead at, as `LeaseRequest` has them. */
export interface Portion {
  readonly max: number;
  readonly bytesMax: number;
  /** Deliveries after which a message is not taken: it dies. */
  readonly deliveriesMax: number;
}

/**
 * Goes through the messages that leases would take, in the order of `leaseOrDeadLetter`, and leases nothing.
 *
 * Costs a heap node for each place that is looked at, and on a queue with groups one for each noisy group.
 */
export class LeavingOrder {
  readonly #queue: Queue;
  readonly #nowMs: number;
  readonly #front: Iterator<Entry | SegmentNode | Group, undefined>;
  /** The node of `#front` that comes next. */
  #next: Stretch | Line | undefined;
  /** Stretches and groups behind those that were looked at already. */
  readonly #later = new TimeHeap<Stretch | Line>();
  /** Groups that leave only when nothing else does. */
  readonly #noisy = new TimeHeap<Line>();
  /** Indexes of the messages that were taken, by segment. */
  readonly #taken = new Map<number, Set<number>>();
  /** Number of messages that were taken. */
  count = 0;

  constructor(queue: Queue, nowMs: number) {
    advance(queue, nowMs);
    queue.order?.noteTime(nowMs);
    queue.order?.sortGroups(queue);
    this.#queue = queue;
    this.#nowMs = nowMs;
    this.#front = queue.ready.inOrder();
    this.#pull();
    for (const group of queue.order?.heldBack ?? []) this.#queueUp(group, 0, group.inFlight, true);
  }

  /** Number of messages that are ready and were not taken. */
  get readyCount(): number {
    return this.#queue.readyCount - this.count;
  }

  /** When the next message became ready, in ms; `null` when none could be leased. */
  get firstMs(): number | null {
    const first = this.#peek();
    if (first === undefined) return null;
    return first.group !== null ? lineMs(first) : first.atMs;
  }

  /** Whether a message was taken. */
  has(segmentId: number, index: number): boolean {
    return this.#taken.get(segmentId)?.has(index) === true;
  }

  /** Takes the messages of one lease. Returns their number and their bytes. */
  take(portion: Portion): { readonly count: number; readonly bytes: number } {
    const taking = { ...portion, count: 0, bytes: 0 };
    for (let next = this.#peek(); next !== undefined; next = this.#peek()) {
      this.#drop(next);
      const goesOn = next.group !== null ? this.#takeLine(next, taking) : this.#takeStretch(next, taking);
      if (!goesOn) break;
    }
    return taking;
  }

  #takeStretch(stretch: Stretch, taking: Portion & Taking): boolean {
    const { segment, to, isUntouched } = stretch;
    if (stretch.attempts >= taking.deliveriesMax) return true;
    for (; stretch.from < to; stretch.from++) {
      if (this.#add(segment, stretch.from, taking)) continue;
      // The rest leaves by the sequence number of its own first message.
      stretch.seq = segment.seqOf(stretch.from);
      this.#later.push(stretch);
      return false;
    }
    if (isUntouched) this.#pushRun(segment, to);
    return true;
  }

  /** Takes the messages that a group can deliver: of a FIFO queue a prefix, of another one a single message. */
  #takeLine(line: Line, taking: Portion & Taking): boolean {
    const { messages } = line.group;
    let taken = 0;
    while (line.place < messages.length) {
      const [segment, index] = [messages.segmentAt(line.place), messages.indexAt(line.place)];
      const entry = segment.entryOf(index);
      if (this.#queue.isFifo && !isReady(segment, index, entry)) return true;
      if ((entry?.attempts ?? 0) >= taking.deliveriesMax) {
        line.place += 1;
        if (taken > 0) continue;
        this.#queueUp(line.group, line.place, line.inFlight, line.isNoisy);
        return true;
      }
      if (!this.#add(segment, index, taking)) {
        // A group of a FIFO queue with a message in flight delivers nothing.
        if (taken === 0) (line.isNoisy ? this.#noisy : this.#later).push(line);
        return false;
      }
      taken += 1;
      line.place += 1;
      if (this.#queue.isFifo) continue;
      this.#queueUp(line.group, line.place, line.inFlight + 1, line.isNoisy);
      return true;
    }
    return true;
  }

  #add(segment: Segment, index: number, taking: Portion & Taking): boolean {
    const bytes = taking.bytes + segment.bytes(index, index + 1);
    if (taking.count >= taking.max || (bytes > taking.bytesMax && taking.count > 0)) return false;
    taking.count += 1;
    taking.bytes = bytes;
    this.count += 1;
    const known = this.#taken.get(segment.id);
    if (known === undefined) this.#taken.set(segment.id, new Set([index]));
    else known.add(index);
    return true;
  }

  /** Puts a group in the place of its next message; on a FIFO queue in none if that message is not ready. */
  #queueUp(group: Group, place: number, inFlight: number, wasNoisy: boolean): void {
    const { messages, id, sentMs } = group;
    if (place >= messages.length) return;
    const [segment, index] = [messages.segmentAt(place), messages.indexAt(place)];
    if (this.#queue.isFifo && !isReady(segment, index, segment.entryOf(index))) return;
    const leased = this.#queue.leasedCount + this.count;
    const noisy = !this.#queue.isFifo && isNoisy(leased, { id, sentMs, inFlight }, wasNoisy, this.#nowMs);
    const line: Line = { group, place, inFlight, isNoisy: noisy, atMs: 0, seq: segment.seqOf(index), at: -1 };
    line.atMs = noisy ? inFlight : lineMs(line);
    (noisy ? this.#noisy : this.#later).push(line);
  }

  #pushRun(segment: Segment, from: number): void {
    const to = Math.min(segment.runEnd(from), segment.readyEnd);
    if (from >= to) return;
    this.#later.push({
      group: null,
      segment,
      from,
      to,
      attempts: 0,
      isUntouched: true,
      atMs: segment.dueOf(from),
      seq: segment.seqOf(from),
      at: -1,
    });
  }

  #peek(): Stretch | Line | undefined {
    const later = this.#later.peek();
    if (this.#next === undefined) return later ?? this.#noisy.peek();
    if (later === undefined) return this.#next;
    return isBefore(later, this.#next) ? later : this.#next;
  }

  #drop(node: Stretch | Line): void {
    if (node === this.#next) this.#pull();
    else if (node.group !== null && node.isNoisy) this.#noisy.remove(node);
    else this.#later.remove(node);
  }

  #pull(): void {
    const { value: node } = this.#front.next();
    this.#next = node === undefined ? undefined : fromNode(node);
  }
}

/** A lease as far as it is put together. */
interface Taking {
  count: number;
  bytes: number;
}

function fromNode(node: Entry | SegmentNode | Group): Stretch | Line {
  const { atMs, seq } = node;
  const order = { atMs, seq, at: -1 };
  if (node instanceof Group) {
    return { ...order, group: node, place: 0, inFlight: node.inFlight, isNoisy: false };
  }
  const { segment } = node;
  if (node instanceof Entry) {
    const { from, to, attempts } = node;
    return { ...order, group: null, segment, from, to, attempts, isUntouched: false };
  }
  const from = segment.cursor;
  const to = Math.min(segment.runEnd(from), segment.readyEnd);
  return { ...order, group: null, segment, from, to, attempts: 0, isUntouched: true };
}

/** When the next message of a group became visible, in ms. */
function lineMs({ group: { messages }, place }: Line): number {
  const [segment, index] = [messages.segmentAt(place), messages.indexAt(place)];
  return visibleSinceMs(segment, index, segment.entryOf(index));
}
