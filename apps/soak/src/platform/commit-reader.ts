import type { OutboxItem } from "@sluice/broker/testing";
import type { SegmentRow } from "@sluice/broker/testing/table-store";
import { createQueue, restoreSegment } from "@sluice/engine";
import type { MoveTask } from "@sluice/protocol";
import type { CommitMoment, CommitRecord } from "../ledger/change.ts";
import type { Segment } from "../ledger/view.ts";
import type { Disk, Version } from "./disk.ts";

/** Restores a segment from what is stored of it, into an engine of its own. Throws on rows that are none. */
export function restoreRow(
  disk: Disk,
  id: number,
  moment: Pick<CommitMoment, "atMs" | "rules">,
): Segment | null {
  const row = disk.segmentRows.get(id);
  if (row === undefined) return null;
  const scratch = createQueue(moment.rules, 1);
  restoreSegment(scratch, id, row.index, disk.stateRows.get(id) ?? row.state, moment.atMs);
  return scratch.segments.get(id) ?? null;
}

/** Reads a commit back that has just been written. */
export function readCommit(
  disk: Disk,
  version: Version,
  moment: Omit<CommitMoment, "version">,
): CommitRecord {
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
