import type { LeaseKind, Queue } from "@sluice/engine";

/** A segment as the engine keeps it; its class is not part of the engine's surface. */
export type Segment = Queue["segments"] extends Map<number, infer S> ? S : never;

/** State of a message by the stored rows. */
export type View = Waiting | Leased | Gone;

export interface Waiting {
  readonly status: "waiting";
  readonly attempts: number;
  /** Due time in ms. */
  readonly atMs: number;
}

export interface Leased {
  readonly status: "leased";
  readonly attempts: number;
  /** End of the lease in ms. */
  readonly atMs: number;
  readonly leaseId: number;
  readonly kind: LeaseKind;
}

export interface Gone {
  readonly status: "gone";
}

export const GONE: Gone = { status: "gone" };

/** State of each message of a segment, by index. */
export function viewsOf(segment: Segment): View[] {
  const { count, runs } = segment;
  const views = new Array<View>(count).fill(GONE);
  for (const { from, to, state, attempts, atMs, leaseId, leaseKind } of segment.entries) {
    if (attempts === 0) {
      // Never delivered: such an entry can cover messages of several due times, each as it was from the start.
      for (let i = from; i < to; i++) views[i] = { status: "waiting", attempts, atMs: segment.dueOf(i) };
      continue;
    }
    const view: View =
      state === "leased"
        ? { status: "leased", attempts, atMs, leaseId, kind: leaseKind }
        : { status: "waiting", attempts, atMs };
    views.fill(view, from, to);
  }
  for (let r = segment.cursor < count ? runs.indexOf(segment.cursor) : runs.length; r < runs.length; r++) {
    const from = Math.max(segment.cursor, runs.from(r));
    const to = r + 1 < runs.length ? runs.from(r + 1) : count;
    views.fill({ status: "waiting", attempts: 0, atMs: runs.dueMs(r) }, from, to);
  }
  return views;
}

export function sameView(a: View, b: View): boolean {
  if (a === b) return true;
  if (a.status === "gone" || b.status === "gone") return a.status === b.status;
  if (a.attempts !== b.attempts || a.atMs !== b.atMs) return false;
  if (a.status === "leased") return b.status === "leased" && a.leaseId === b.leaseId && a.kind === b.kind;
  return b.status === "waiting";
}
