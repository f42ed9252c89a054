import type { TraceEvent } from "./disk-trace.ts";

/** Whether a mistake leaves a sync out. @param earlier number of earlier syncs of the same file or folder. */
type LeavesOut = (path: string, earlier: number) => boolean;

/** Syncs of a database file at its creation: later ones are checkpoints of its log. */
const SYNCS_AT_CREATION = 1;

/** Planted mistakes: each leaves the syncs of these files or folders out. */
export const PLANTED = {
  "database files": (path) => path.endsWith(".sqlite"),
  "database files, once they are made": (path, earlier) =>
    path.endsWith(".sqlite") && earlier >= SYNCS_AT_CREATION,
  "logs of pages": (path) => path.endsWith(".sqlite-wal"),
  "the directory's log of pages": (path) => /-Directory\/[0-9a-f]{64}\.sqlite-wal$/.test(path),
  "folders of objects": (path) => /\/do\/[^/]+$/.test(path),
  "folders above them": (path) => /^$|^state$|\/v3$|\/do$/.test(path),
} as const satisfies Record<string, LeavesOut>;

export type Planted = keyof typeof PLANTED;

/** Removes from a trace the syncs that a mistake leaves out. */
export function withMistake(events: readonly TraceEvent[], planted: Planted): TraceEvent[] {
  const leavesOut: LeavesOut = PLANTED[planted];
  const syncs = new Map<string, number>();
  return events.filter((event) => {
    if (event.kind !== "sync") return true;
    const earlier = syncs.get(event.path) ?? 0;
    syncs.set(event.path, earlier + 1);
    return !leavesOut(event.path, earlier);
  });
}
