/**
 * Messages of a segment that were accepted together with one due time and consecutive sequence numbers form a run. The
 * runs of a segment are in order of due time, so its untouched messages are a range behind a cursor.
 *
 * Columns instead of objects: a backlog that was sent one by one has a run per message, and 32 bytes each is what lets
 * a million of them fit into a Durable Object.
 */
export class Runs {
  readonly #from: number[] = [];
  readonly #seq: number[] = [];
  readonly #dueMs: number[] = [];
  readonly #acceptedMs: number[] = [];
  #oldestMs = Infinity;
  #isAgeOrdered = true;

  get length(): number {
    return this.#from.length;
  }

  /** Appends a run; one that continues the last in every respect extends it. */
  append(from: number, seq: number, dueMs: number, acceptedMs: number): void {
    const last = this.length - 1;
    if (
      last >= 0 &&
      this.dueMs(last) === dueMs &&
      this.acceptedMs(last) === acceptedMs &&
      this.seq(last) + (from - this.from(last)) === seq
    ) {
      return;
    }
    if (last >= 0 && dueMs < this.dueMs(last))
      throw new Error("runs of a segment are appended in order of due time");
    this.#from.push(from);
    this.#seq.push(seq);
    this.#dueMs.push(dueMs);
    this.#acceptedMs.push(acceptedMs);
    if (last >= 0 && acceptedMs < this.acceptedMs(last)) this.#isAgeOrdered = false;
    this.#oldestMs = Math.min(this.#oldestMs, acceptedMs);
  }

  /** When the oldest of all messages was accepted, those that are gone included, in ms. */
  get oldestMs(): number {
    return this.#oldestMs;
  }

  /** Whether no message is older than one before it: dead letters keep their age, and can be. */
  get isAgeOrdered(): boolean {
    return this.#isAgeOrdered;
  }

  /** Index of the first message of run r. The end of the last run is the number of messages in the segment. */
  from(r: number): number {
    return at(this.#from, r);
  }

  /** Sequence number of the first message of run r. */
  seq(r: number): number {
    return at(this.#seq, r);
  }

  dueMs(r: number): number {
    return at(this.#dueMs, r);
  }

  /** Gives the runs other due times, one for each, in order. Runs that are alike then are joined, as a restart does. */
  changeDueMs(dueMs: readonly number[]): void {
    const [from, seq, acceptedMs] = [this.#from.splice(0), this.#seq.splice(0), this.#acceptedMs.splice(0)];
    this.#dueMs.length = 0;
    for (let r = 0; r < from.length; r++)
      this.append(at(from, r), at(seq, r), at(dueMs, r), at(acceptedMs, r));
  }

  /** When the messages of run r were committed, dead letters that keep their age to their first queue, in ms. */
  acceptedMs(r: number): number {
    return at(this.#acceptedMs, r);
  }

  /** The run that message i belongs to. */
  indexOf(i: number): number {
    let low = 0;
    let high = this.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.from(middle) <= i) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

function at(column: readonly number[], r: number): number {
  const value = column[r];
  if (value === undefined) throw new RangeError(`run ${r} of ${column.length}`);
  return value;
}
