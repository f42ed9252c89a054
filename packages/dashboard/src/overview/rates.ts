import type { FiguresView } from "../api/call.ts";
import type { MapEdge } from "./map-layout.ts";

/** How far a rate looks back, in ms. */
const WINDOW_MS = 5_000;

interface Point {
  readonly atMs: number;
  readonly counts: Readonly<Record<MapEdge["carries"], number>>;
}

/** Messages a second of each queue, by its counts since it woke up. */
export class Rates {
  /** Counts of each queue in the last seconds, oldest first. */
  readonly #points = new Map<string, Point[]>();

  /** @param atMs when the figures came, by this machine's clock. */
  add(queue: string, { totals }: Pick<FiguresView, "totals">, atMs: number): void {
    const counts = {
      in: (totals.accepted ?? 0) + (totals.arrived ?? 0),
      out: totals.acked ?? 0,
      dead: totals.deadLettered ?? 0,
    };
    const before = this.#points.get(queue) ?? [];
    // A queue that fell asleep counts from nothing when it wakes up.
    const isAnew = before.some((point) => point.counts.in > counts.in || point.counts.out > counts.out);
    // What is older than the window is known once: a rate begins there.
    const start = before.findLastIndex((point) => point.atMs <= atMs - WINDOW_MS);
    const kept = isAnew ? [] : before.slice(Math.max(0, start));
    this.#points.set(queue, [...kept, { atMs, counts }]);
  }

  /** `null` where nothing is known of the queue. */
  of(queue: string, carries: MapEdge["carries"], nowMs: number): number | null {
    const points = this.#points.get(queue);
    const last = points?.at(-1);
    if (points === undefined || last === undefined) return null;
    const [oldest = last] = points;
    const before = points.findLast(({ atMs }) => atMs <= nowMs - WINDOW_MS) ?? oldest;
    const seconds = Math.min(WINDOW_MS, Math.max(1_000, nowMs - before.atMs)) / 1_000;
    return (last.counts[carries] - before.counts[carries]) / seconds;
  }
}
