import { encodeIndex, encodeState, type Queue, restoreSegment, takeChanges } from "../src/index.ts";
import { same } from "./same.ts";

/** A stored row: what survives a crash. */
interface Row {
  index: Uint8Array;
  state: Uint8Array | null;
  /** Messages whose records the payload holds. */
  payloadCount: number;
}

/** Rows that are stored of a queue, updated by the changes that its engine reports. */
export class StoredRows {
  readonly #rows = new Map<number, Row>();

  /** Stores what has changed. */
  commit(queue: Queue): void {
    for (const [id, change] of takeChanges(queue)) {
      const segment = queue.segments.get(id);
      const row = this.#rows.get(id);
      if ((segment === undefined) !== (change === "gone"))
        throw new Error(`segment ${id} is not there but ${change}`);
      if ((row === undefined) !== (change === "created"))
        throw new Error(`segment ${id} is not stored but ${change}`);
      if (segment === undefined) {
        this.#rows.delete(id);
        continue;
      }
      const payloadCount = change === "touched" ? (row?.payloadCount ?? 0) : segment.count;
      this.#rows.set(id, { index: encodeIndex(segment), state: encodeState(segment), payloadCount });
    }
  }

  /** Writes the indexes of segments anew. */
  writeIndexes(queue: Queue, ids: readonly number[]): void {
    for (const id of ids) {
      const [row, segment] = [this.#rows.get(id), queue.segments.get(id)];
      if (row !== undefined && segment !== undefined) row.index = encodeIndex(segment);
    }
  }

  /** Loads them into an empty queue. */
  restore(queue: Queue, nowMs: number): void {
    for (const [id, row] of [...this.#rows].sort(([a], [b]) => a - b)) {
      restoreSegment(queue, id, row.index, row.state, nowMs);
    }
  }

  /** Checks that the stored rows equal the queue in memory: else a change was not reported. */
  check(queue: Queue): void {
    same([...this.#rows.keys()].join(), [...queue.segments.keys()].join(), "stored segments");
    for (const [id, segment] of queue.segments) {
      const row = this.#rows.get(id);
      same(row?.payloadCount, segment.count, "messages in the payload of a segment");
      sameBytes(row?.index, encodeIndex(segment), "index of a segment");
      sameBytes(row?.state, encodeState(segment), "state of a segment");
    }
  }
}

function sameBytes(stored: Uint8Array | null | undefined, current: Uint8Array | null, what: string): void {
  const isSame = stored && current ? Buffer.compare(stored, current) === 0 : stored === current;
  if (!isSame) same(stored?.join(), current?.join(), what);
}
