import type { Segment } from "../ledger/view.ts";
import type { Checker } from "./checker.ts";

/** What a fresh engine reads from the store is what the running one has in memory. */
export const reload: Checker = {
  property: "reload",

  written(_queue, segments) {
    for (const { id, written, live } of segments) {
      if (written === null || live === undefined) {
        if (written === null && live === undefined) continue;
        return `segment ${id} is ${written === null ? "in memory only" : "stored only"}`;
      }
      const difference = differenceOf(written, live);
      if (difference !== undefined) return `segment ${id} is stored with other ${difference} than it has`;
    }
    return undefined;
  },

  afterEvent({ life, disk }) {
    const queue = life?.core?.queue;
    if (queue === undefined) return undefined;
    if (queue.changes.size > 0) return `${queue.changes.size} changed segments were not written`;
    if (queue.segments.size === disk.segmentRows.size) return undefined;
    return `${queue.segments.size} segments are in memory, ${disk.segmentRows.size} are stored`;
  },
};

function differenceOf(a: Segment, b: Segment): string | undefined {
  if (a.count !== b.count || a.sizes.some((size, i) => size !== b.sizes[i])) return "sizes";
  if (a.cursor !== b.cursor || a.remaining !== b.remaining) return "messages";
  if (a.runs.length !== b.runs.length) return "runs";
  for (let r = 0; r < a.runs.length; r++) {
    if (
      a.runs.from(r) !== b.runs.from(r) ||
      a.runs.seq(r) !== b.runs.seq(r) ||
      a.runs.dueMs(r) !== b.runs.dueMs(r) ||
      a.runs.acceptedMs(r) !== b.runs.acceptedMs(r)
    ) {
      return "due times";
    }
  }
  if (a.entries.length !== b.entries.length) return "entries";
  for (const [i, entry] of a.entries.entries()) {
    const other = b.entries[i];
    const isLeased = entry.state === "leased";
    if (
      other === undefined ||
      entry.from !== other.from ||
      entry.to !== other.to ||
      entry.attempts !== other.attempts ||
      entry.atMs !== other.atMs ||
      entry.leaseId !== other.leaseId ||
      isLeased !== (other.state === "leased") ||
      (isLeased && entry.leaseKind !== other.leaseKind)
    ) {
      return "entries";
    }
  }
  return undefined;
}
