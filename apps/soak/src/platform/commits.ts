import { IS_LIVE, recordFrom, SELECT_RECORD } from "@sluice/broker/testing";
import { createQueue, restoreSegment } from "@sluice/engine";
import type { MoveTask, QueueRecord } from "@sluice/protocol";
import type { CommitMoment, CommitRecord } from "../ledger/change.ts";
import type { Segment } from "../ledger/view.ts";
import type { Disk } from "./disk.ts";
import type { Written } from "./recorded-store.ts";

/** A segment as it was written, beside the one in memory. */
export interface WrittenSegment {
  readonly id: number;
  readonly written: Segment | null;
  readonly live: Segment | undefined;
}

/** Rows of a queue on its disk, read without the store. */
export class StoredRows {
  readonly #disk: Disk;
  /** `segmentCount` as of a number of changes: it is read at each event, and counted only after a change. */
  #counted: { readonly changes: number; readonly count: number } | null = null;

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  /** Ids of all segments; none before the first commit. */
  get segmentIds(): number[] {
    return this.#all(`SELECT id FROM segments WHERE ${IS_LIVE}`).map(({ id }) => Number(id));
  }

  get segmentCount(): number {
    const { changes } = this.#disk;
    if (this.#counted?.changes !== changes) {
      const count = Number(
        this.#all(`SELECT count(*) AS count FROM segments WHERE ${IS_LIVE}`)[0]?.count ?? 0,
      );
      this.#counted = { changes, count };
    }
    return this.#counted.count;
  }

  /** Copy of the queue's record; `null` if there is none. */
  get record(): QueueRecord | null {
    const copy = this.#all(SELECT_RECORD)[0]?.value;
    return copy === undefined ? null : recordFrom(String(copy));
  }

  get noteKeys(): string[] {
    return this.#all("SELECT key FROM notes").map(({ key }) => String(key));
  }

  /** Restores a stored segment into an engine of its own. Throws on damaged rows. */
  segment(
    id: number,
    { atMs, rules }: Pick<CommitMoment, "atMs" | "rules">,
  ): { readonly segment: Segment | null; readonly payload: Uint8Array | null } {
    const [row] = this.#all(
      `SELECT s.idx, coalesce(t.state, s.state) AS state, s.payload
       FROM segments s LEFT JOIN segment_states t ON t.id = s.id WHERE s.id = ? AND s.${IS_LIVE}`,
      id,
    );
    if (row === undefined) return { segment: null, payload: null };
    const [index, state, payload] = [row.idx, row.state, row.payload].map(bytesOf);
    const scratch = createQueue(rules, 1);
    if (index != null) restoreSegment(scratch, id, index, state ?? null, atMs);
    return { segment: scratch.segments.get(id) ?? null, payload: payload ?? null };
  }

  #all(sql: string, ...values: number[]) {
    try {
      return this.#disk.database.all(sql, values);
    } catch (error) {
      // The object has never been started.
      if (String(error).includes("no such table")) return [];
      throw error;
    }
  }
}

/** Reads commits of a queue back, and keeps their segments until they have been compared with memory. */
export class Commits {
  /** Segments that were written or loaded since memory was last compared with the disk. */
  readonly #unchecked = new Map<number, Segment | null>();
  readonly #rows: StoredRows;

  constructor(rows: StoredRows) {
    this.#rows = rows;
  }

  /** Reads all segments, which the queue is about to load. */
  loading(moment: Pick<CommitMoment, "atMs" | "rules">): void {
    for (const id of this.#rows.segmentIds) this.#unchecked.set(id, this.#rows.segment(id, moment).segment);
  }

  /** Reads a commit back that was written. */
  written(written: Written, moment: CommitMoment): CommitRecord {
    const { outboxIn, outboxOut, moves } = written;
    const segments = [...written.segments].map(([id, { hasPayload }]) => {
      const { segment, payload } = this.#rows.segment(id, moment);
      this.#unchecked.set(id, segment);
      return { id, segment, payload: hasPayload ? payload : null };
    });
    return { ...moment, segments, outboxIn, outboxOut, moveTasks: moves && tasksIn(moves) };
  }

  /** Takes the segments that have to be compared with memory now. */
  takeUnchecked(live: ReadonlyMap<number, Segment> | undefined): WrittenSegment[] {
    const segments = [...this.#unchecked].map(([id, written]) => ({ id, written, live: live?.get(id) }));
    this.#unchecked.clear();
    return segments;
  }

  clear(): void {
    this.#unchecked.clear();
  }
}

function bytesOf(value: unknown): Uint8Array | null {
  return value instanceof ArrayBuffer ? new Uint8Array(value) : null;
}

/** Reads the note of move tasks: JSON text behind its checksum. */
function tasksIn(note: Uint8Array): MoveTask[] {
  const [, text] = JSON.parse(new TextDecoder().decode(note)) as [number, string];
  return JSON.parse(text) as MoveTask[];
}
