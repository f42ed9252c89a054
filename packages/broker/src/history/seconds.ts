import { FIGURES_WINDOWS, type HistoryKind } from "@sluice/protocol";
import { addBucket, type Bucket, newBucket } from "./bucket.ts";

/** Seconds with an event that are kept in memory: those of the window by the second. */
export const SECONDS_KEPT = FIGURES_WINDOWS["5m"].columns;

const MINUTE_SECONDS = 60;

/**
 * Lists the seconds of minutes, newest first. Of a minute of which not every event is in a second, the rest is spread
 * over its seconds up to `sinceMs`: the rest is of an earlier epoch, which kept no seconds.
 */
export function* secondsAndMinutes(
  oldestFirst: readonly Bucket[],
  minutesNewestFirst: Iterable<Bucket>,
  sinceMs: number,
): Generator<Bucket> {
  const latest = Math.floor(sinceMs / 1_000);
  let end = oldestFirst.length;
  for (const minute of minutesNewestFirst) {
    const first = minute.at * MINUTE_SECONDS;
    const known = newBucket(minute.at);
    for (; end > 0; end--) {
      const second = oldestFirst[end - 1] as Bucket; // within its bounds
      if (second.at < first) break;
      if (second.at < first + MINUTE_SECONDS) addBucket(known, second);
      yield second;
    }
    const seconds = Math.min(MINUTE_SECONDS, latest - first + 1);
    if (seconds > 0) yield* spread(minute, known, first, seconds);
  }
  while (end > 0) yield oldestFirst[--end] as Bucket; // within its bounds
}

/** Spreads what a minute has more than its known seconds over its first seconds, newest first. */
function* spread(minute: Bucket, known: Bucket, first: number, seconds: number): Generator<Bucket> {
  const { held, heldMax, oldestMs, ageMaxMs, tookMaxMs, movedMs = 0 } = minute;
  const rest = Object.entries(minute.counts).map(
    ([kind, count]) => [kind as HistoryKind, count - (known.counts[kind as HistoryKind] ?? 0)] as const,
  );
  const tookMs = minute.tookMs?.map((count, place) => count - (known.tookMs?.[place] ?? 0));
  const moved = movedMs - (known.movedMs ?? 0);
  const isKnown = rest.every(([, count]) => count <= 0) && !tookMs?.some((count) => count > 0);
  if (isKnown && moved <= 0) return;
  for (let i = seconds - 1; i >= 0; i--) {
    const second = newBucket(first + i);
    for (const [kind, count] of rest) if (count > 0) second.counts[kind] = count / seconds;
    Object.assign(second, { held, heldMax, ageMaxMs }, oldestMs === undefined ? {} : { oldestMs });
    // Durations are not spread: a part of a delivery has none.
    if (i === seconds - 1 && tookMs?.some((count) => count > 0)) Object.assign(second, { tookMs, tookMaxMs });
    // Before it comes the end of the minute in which the move began.
    if (i === 0) second.movedMs = Math.max(0, Math.floor(moved / 60_000) * 60_000 - 59_000);
    yield second;
  }
}
