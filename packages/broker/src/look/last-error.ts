import type { MessagePosition } from "@sluice/engine";
import type { PackedIndex } from "@sluice/protocol";
import { pastIn } from "../history/past.ts";
import type { QueueContext } from "../turn/context.ts";
import { extensionOf } from "./matcher.ts";

/**
 * Returns the first line of the error of a message's last failed delivery: in this queue, else in the last one that
 * gave it up. `null` where none is known.
 *
 * @param attempts deliveries in this queue. A message without any has no failure here to look for.
 * @param at number of its record in `payload`. Default: its index in its segment.
 */
export function lastErrorOf(
  { history }: Pick<QueueContext, "history">,
  { segmentId, index }: MessagePosition,
  attempts: number,
  payload: PackedIndex,
  at = index,
): string | null {
  const own = attempts > 0 ? history.failures.errorAt(segmentId, index) : null;
  return own ?? earlierErrorOf(payload, at);
}

/** Returns the first line of the error for which the last queue before this one gave a message up; `null` for none. */
export function earlierErrorOf(payload: PackedIndex, at: number): string | null {
  const ends = pastIn(extensionOf(payload, at))?.ends ?? [];
  return ends.findLast(({ error }) => error !== null)?.error ?? null;
}
