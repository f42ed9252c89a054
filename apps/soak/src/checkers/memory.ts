import type { Segment } from "../ledger/view.ts";
import type { Checker } from "./checker.ts";

/**
 * Checker of counters: those that a queue keeps equal a recount of its messages, and the figures of its description
 * equal those of the ledger.
 */
export const counters: Checker = {
  property: "counters",

  described({ ledger, disk, world }, { ready, delayed, leased, backlogBytes, oldestMessageTimestampMs }) {
    if (!disk.isSynced) return undefined;
    const found = { ready: 0, delayed: 0, leased: 0, bytes: 0 };
    let oldestMs = Infinity;
    for (const { view, bytes, acceptedMs } of ledger.present()) {
      if (view.status === "leased") found.leased += 1;
      if (view.status !== "waiting") continue;
      found[view.atMs <= world.nowMs ? "ready" : "delayed"] += 1;
      found.bytes += bytes;
      oldestMs = Math.min(oldestMs, acceptedMs);
    }
    return differing(
      { ready, delayed, leased, bytes: backlogBytes, oldestMs: oldestMessageTimestampMs },
      { ...found, oldestMs: oldestMs === Infinity ? 0 : oldestMs },
    );
  },

  afterEvent({ epoch }) {
    const queue = epoch?.core?.queue;
    if (queue === undefined) return undefined;
    const found = { ready: 0, delayed: 0, leased: 0, bytes: 0 };
    for (const segment of queue.segments.values()) {
      let remaining = segment.count - segment.cursor;
      found.ready += segment.readyEnd - segment.cursor;
      found.delayed += segment.count - segment.readyEnd;
      found.bytes += segment.bytes(segment.cursor, segment.count);
      for (const { state, from, to } of segment.entries) {
        remaining += to - from;
        found[state] += to - from;
        if (state !== "leased") found.bytes += segment.bytes(from, to);
      }
      if (remaining !== segment.remaining) {
        return `segment ${segment.id} counts ${segment.remaining} messages and has ${remaining}`;
      }
    }
    const { readyCount: ready, delayedCount: delayed, leasedCount: leased, waitingBytes: bytes } = queue;
    const { backlogCount, backlogBytes } = epoch?.core?.metrics() ?? {};
    return (
      differing({ ready, delayed, leased, bytes }, found) ??
      differing({ backlogCount, backlogBytes }, { backlogCount: ready + delayed, backlogBytes: bytes })
    );
  },
};

type Figures = Readonly<Record<string, number | undefined>>;

/** Describes a difference between counted and found figures; `undefined` without one. */
function differing(counted: Figures, found: Figures): string | undefined {
  for (const name in found) {
    if (counted[name] === found[name]) continue;
    return `${JSON.stringify(counted)} are counted, ${JSON.stringify(found)} are there`;
  }
  return undefined;
}

/** Checker of reloads: a fresh engine reads from the store the same state that the running one has in memory. */
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

  afterEvent({ epoch, rows }) {
    const queue = epoch?.core?.queue;
    if (queue === undefined) return undefined;
    if (queue.changes.size > 0) return `${queue.changes.size} changed segments were not written`;
    const stored = rows.segmentCount;
    if (queue.segments.size === stored) return undefined;
    return `${queue.segments.size} segments are in memory, ${stored} are stored`;
  },
};

function differenceOf(a: Segment, b: Segment): string | undefined {
  if (a.count !== b.count || a.sizes.some((size, i) => size !== b.sizes[i])) return "sizes";
  if (a.cursor !== b.cursor || a.remaining !== b.remaining) return "messages";
  if (a.runs.length !== b.runs.length) return "runs";
  for (let r = 0; r < a.runs.length; r++) {
    for (const what of ["from", "seq", "dueMs", "acceptedMs"] as const) {
      if (a.runs[what](r) !== b.runs[what](r)) return "due times";
    }
  }
  if (a.entries.length !== b.entries.length) return "entries";
  for (const [i, entry] of a.entries.entries()) {
    const other = b.entries[i];
    const isLeased = entry.state === "leased";
    if (other === undefined || isLeased !== (other.state === "leased")) return "entries";
    if (isLeased && entry.leaseKind !== other.leaseKind) return "entries";
    for (const what of ["from", "to", "attempts", "atMs", "leaseId"] as const) {
      if (entry[what] !== other[what]) return "entries";
    }
  }
  return undefined;
}
