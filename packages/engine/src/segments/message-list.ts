/** Places before the front that are not worth freeing while there are messages. */
export const SLACK_MAX = 1_024;

/** Methods of a segment that a list calls. */
interface Numbered {
  readonly id: number;
  seqOf(index: number): number;
}

/**
 * Messages of a group by (time, sequence number). Columns instead of objects: a backlog of a FIFO queue has a place in
 * here for each message. Most messages leave at the front and come at the end; for one in between, the messages on the
 * shorter side move.
 */
export class MessageList<Segment extends Numbered> {
  /** `undefined` at free places: a segment that has ended can go. */
  #segments: (Segment | undefined)[] = [];
  #indexes: number[] = [];
  #times: number[] = [];
  #front = 0;

  get length(): number {
    return this.#segments.length - this.#front;
  }

  /** Free places before the front: fewer than there are messages, or than `SLACK_MAX`. */
  get slack(): number {
    return this.#front;
  }

  segmentAt(place: number): Segment {
    return column(this.#segments, this.#front + place);
  }

  indexAt(place: number): number {
    return column(this.#indexes, this.#front + place);
  }

  timeAt(place: number): number {
    return column(this.#times, this.#front + place);
  }

  /** Puts message `index` of a segment in its place. */
  insert(segment: Segment, index: number, atMs: number): void {
    const place = this.#placeOf(atMs, segment.seqOf(index));
    const end = this.length;
    if (this.#front > 0 && place < end - place) {
      this.#front -= 1;
      this.#shift(0, place, 1);
    } else {
      this.#shift(end, place, -1);
    }
    this.#set(place, segment, index, atMs);
  }

  /** Takes a message out that was put in with that time. Throws if it is not there. */
  remove(segment: Segment, index: number, atMs: number): void {
    const place = this.#placeOf(atMs, segment.seqOf(index));
    if (place >= this.length || this.segmentAt(place) !== segment || this.indexAt(place) !== index) {
      throw new Error(`message ${index} of segment ${segment.id} is not in the list of its group`);
    }
    const last = this.length - 1;
    if (place <= last - place) {
      this.#shift(place, 0, -1);
      this.#segments[this.#front] = undefined;
      this.#front += 1;
      this.#trim();
    } else {
      this.#shift(place, last, 1);
      this.#segments.pop();
      this.#indexes.pop();
      this.#times.pop();
    }
  }

  /** The place of the first message that does not come before (atMs, seq). */
  #placeOf(atMs: number, seq: number): number {
    let low = 0;
    let high = this.length;
    // Messages leave at the front and come at the end.
    if (high === 0 || !this.#isBefore(0, atMs, seq)) return 0;
    if (this.#isBefore(high - 1, atMs, seq)) return high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#isBefore(middle, atMs, seq)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #isBefore(place: number, atMs: number, seq: number): boolean {
    const time = this.timeAt(place);
    return time < atMs || (time === atMs && this.segmentAt(place).seqOf(this.indexAt(place)) < seq);
  }

  /**
   * Moves the messages between the hole at `hole` and `to` by one, so that the hole is at `to`. `step` points from hole
   * to `to`.
   */
  #shift(hole: number, to: number, step: 1 | -1): void {
    for (let place = hole; place !== to; place += step) {
      this.#set(place, this.segmentAt(place + step), this.indexAt(place + step), this.timeAt(place + step));
    }
  }

  #set(place: number, segment: Segment, index: number, atMs: number): void {
    this.#segments[this.#front + place] = segment;
    this.#indexes[this.#front + place] = index;
    this.#times[this.#front + place] = atMs;
  }

  #trim(): void {
    if (this.length > 0 && (this.#front < SLACK_MAX || this.#front < this.length)) return;
    this.#segments = this.#segments.slice(this.#front);
    this.#indexes = this.#indexes.slice(this.#front);
    this.#times = this.#times.slice(this.#front);
    this.#front = 0;
  }
}

function column<Value>(values: readonly (Value | undefined)[], at: number): Value {
  const value = values[at];
  if (value === undefined) throw new RangeError(`place ${at} of ${values.length}`);
  return value;
}
