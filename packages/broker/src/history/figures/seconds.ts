import { FIGURES_WINDOWS, type HistoryKind } from "@sluice/protocol";
import { addBucket, type Bucket, newBucket } from "./bucket.ts";

/** Seconds with an event that are kept in memory: those of the window by the second. */
export const SECONDS_KEPT = FIGURES_WINDOWS["5m"].columns;

const MINUTE_SECONDS = 60;

/**
 * Lists the seconds of minutes, newest first. Of a minute of which not every event is in a second, the rest is spread
 * over its seconds from its first event to its last, and up to `sinceMs`: the rest is of an earlier epoch, which kept
 * no seconds.
 */
export function* secondsAndMinutes(
  oldestFirst: readonly Bucket[],
  minutesNewestFirst: Iterable<Bucket>,
  sinceMs: number,
): Generator<Bucket> {
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
    yield* spread(minute, known, Math.floor(sinceMs / 1_000));
  }
  while (end > 0) yield oldestFirst[--end] as Bucket; // within its bounds
}

/** Spreads what a minute has more than its known seconds over seconds up to the `latest`, newest first. */
function* spread(minute: Bucket, known: Bucket, latest: number): Generator<Bucket> {
  const { held, heldMax, oldestMs, ageMaxMs, tookMaxMs, movedMs = 0 } = minute;
  const rest = Object.entries(minute.counts).map(
    ([kind, count]) => [kind as HistoryKind, count - (known.counts[kind as HistoryKind] ?? 0)] as const,
  );
  const tookMs = minute.tookMs?.map((count, place) => count - (known.tookMs?.[place] ?? 0));
  const moved = movedMs - (known.movedMs ?? 0);
  const isKnown = rest.every(([, count]) => count <= 0) && !tookMs?.some((count) => count > 0);
  if (isKnown && moved <= 0) return;
  const begin = minute.at * MINUTE_SECONDS;
  const [from, to] = placesOf(minute);
  const seconds = Math.min(to, latest - begin) - from + 1;
  for (let i = seconds - 1; i >= 0; i--) {
    const second = newBucket(begin + from + i);
    const upTo = (count: number, end: number) => Math.floor((count * end) / seconds);
    for (const [kind, count] of rest) {
      // Whole messages, of which all together are the count.
      if (count > 0) second.counts[kind] = upTo(count, i + 1) - upTo(count, i);
    }
    Object.assign(second, { held, heldMax, ageMaxMs }, oldestMs === undefined ? {} : { oldestMs });
    // Durations are not spread: a part of a delivery has none.
    if (i === seconds - 1 && tookMs?.some((count) => count > 0)) Object.assign(second, { tookMs, tookMaxMs });
    // Before it comes the end of the minute in which the move began.
    if (i === 0) second.movedMs = Math.max(0, Math.floor(moved / 60_000) * 60_000 - 59_000 + from * 1_000);
    yield second;
  }
}

/** Finds the first and the last second of a minute, counted in it, in which anything was noted. */
function placesOf({ at, firstMs, lastMs }: Bucket): readonly [from: number, to: number] {
  // A clock that was set back leaves its minute.
  const place = (ms: number) =>
    Math.min(Math.max(Math.floor(ms / 1_000) - at * MINUTE_SECONDS, 0), MINUTE_SECONDS - 1);
  return [place(firstMs ?? 0), place(lastMs ?? Number.MAX_SAFE_INTEGER)];
}
