import type { QueueUsage } from "@sluice/protocol";
import { storedUsage } from "../usage/stored-usage.ts";

/**
 * Stored position and usage of a queue: commits, messages, `storedUsage`, epoch, and the number of the latest commit
 * that emptied the queue. A contract, since it is stored: append, never reorder. Earlier releases wrote fewer.
 */
export type Mark = readonly [
  commits: number,
  messages: number,
  usage?: readonly unknown[] | null,
  epoch?: number,
  lastLeftAt?: number,
];

/** Parts of a mark as they are written. */
export interface Marked {
  readonly commits: number;
  readonly messages: number;
  readonly usage: QueueUsage | null;
  readonly epoch: number;
  readonly lastLeftAt: number;
}

export const WRITE_MARK = "INSERT OR REPLACE INTO meta VALUES ('mark', ?)";

/** Condition for the rows of segments that have messages: a row with a commit up to the mark's last number has none. */
export const IS_LIVE =
  "commits > coalesce((SELECT json_extract(value, '$[4]') FROM meta WHERE key = 'mark'), 0)";

/** Selects the segments with a stored state of their messages. */
export const SELECT_TOUCHED_SEGMENTS = `SELECT s.id, s.idx, coalesce(t.state, s.state) AS state
  FROM segments s LEFT JOIN segment_states t ON t.id = s.id
  WHERE coalesce(t.state, s.state) IS NOT NULL AND s.${IS_LIVE} ORDER BY s.id`;

export type TouchedSegmentRow = {
  readonly id: number;
  readonly idx: ArrayBuffer;
  readonly state: ArrayBuffer;
};

/** Makes the text of a mark. */
export function markText({ commits, messages, usage, epoch, lastLeftAt }: Marked): string {
  const used = usage === null ? null : storedUsage(usage);
  return JSON.stringify([commits, messages, used, epoch, lastLeftAt] satisfies Mark);
}
