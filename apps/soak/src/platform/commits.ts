import type { OutboxItem } from "@sluice/broker/testing";
import type { SegmentRow } from "@sluice/broker/testing/table-store";
import { createQueue, restoreSegment } from "@sluice/engine";
import type { MoveTask } from "@sluice/protocol";
import type { CommitMoment, CommitRecord } from "../ledger/change.ts";
import type { Segment } from "../ledger/view.ts";
import type { Disk, Version } from "./disk.ts";

/** Restores a segment from what is stored of it, into an engine of its own. Throws on rows that are none. */
function restoreRow(disk: Disk, id: number, moment: Pick<CommitMoment, "atMs" | "rules">): Segment | null {
  const row = disk.segmentRows.get(id);
  if (row === undefined) return null;
  const scratch = createQueue(moment.rules, 1);
  restoreSegment(scratch, id, row.index, disk.stateRows.get(id) ?? row.state, moment.atMs);
  return scratch.segments.get(id) ?? null;
}

/** A segment as it was written, beside the one in memory. */
export interface WrittenSegment {
  readonly id: number;
  readonly written: Segment | null;
  readonly live: Segment | undefined;
}

/** Commits of a queue as they were read back, until they are durable and have been compared with memory. */
export class Commits {
  /** Commits that are not durable yet, by version. */
  readonly #records = new Map<number, CommitRecord>();
  /** Segments that were written or loaded since memory was last compared with the disk. */
  readonly #unchecked = new Map<number, Segment | null>();

  /** Everything is about to be loaded. */
  loading(disk: Disk, moment: Pick<CommitMoment, "atMs" | "rules">): void {
    for (const id of disk.segmentRows.keys()) this.#unchecked.set(id, restoreRow(disk, id, moment));
  }

  /** A commit was written. */
  written(disk: Disk, version: Version, moment: Omit<CommitMoment, "version">): CommitRecord {
    const record = readCommit(disk, version, moment);
    this.#records.set(version.number, record);
    for (const { id, segment } of record.segments) this.#unchecked.set(id, segment);
    return record;
  }

  /** Versions have become durable: what of them are commits. */
  durable(versions: readonly Version[]): CommitRecord[] {
    const records = versions.flatMap(({ number }) => this.#records.get(number) ?? []);
    for (const { version } of records) this.#records.delete(version);
    return records;
  }

  /** Takes the segments that have to be compared with memory now. */
  takeUnchecked(live: ReadonlyMap<number, Segment> | undefined): WrittenSegment[] {
    const segments = [...this.#unchecked].map(([id, written]) => ({ id, written, live: live?.get(id) }));
    this.#unchecked.clear();
    return segments;
  }

  clear(): void {
    this.#records.clear();
    this.#unchecked.clear();
  }
}

/** Reads a commit back that has just been written. */
function readCommit(disk: Disk, version: Version, moment: Omit<CommitMoment, "version">): CommitRecord {
  const payloads = new Map<number, Uint8Array | null>();
  const outboxIn: OutboxItem[] = [];
  const outboxOut: number[] = [];
  let moveTasks: readonly MoveTask[] | null = null;
  for (const { table, key, after } of version.writes) {
    if (table === "segments") {
      payloads.set(Number(key), (after as SegmentRow | undefined)?.payload ?? null);
    } else if (table === "states") {
      if (!payloads.has(Number(key))) payloads.set(Number(key), null);
    } else if (table === "outbox") {
      if (after === undefined) outboxOut.push(Number(key));
      else outboxIn.push(after as OutboxItem);
    } else if (table === "notes" && key === "moves") {
      moveTasks = tasksIn(after as Uint8Array);
    }
  }
  const segments = [...payloads].map(([id, payload]) => ({
    id,
    payload,
    segment: restoreRow(disk, id, moment),
  }));
  return { ...moment, version: version.number, segments, outboxIn, outboxOut, moveTasks };
}

/** They are stored as text, behind its checksum. */
function tasksIn(note: Uint8Array): MoveTask[] {
  const [, text] = JSON.parse(new TextDecoder().decode(note)) as [number, string];
  return JSON.parse(text) as MoveTask[];
}
