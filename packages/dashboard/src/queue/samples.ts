import type { EventView, FiguresView } from "../api/call.ts";

/** How long a chart looks back, in seconds: one sample each. What is older is overwritten, so that nothing grows. */
export const SAMPLED_SECONDS = 300;
/** Classes of durations, each a quarter wider than the one before: percentiles are as exact as that. */
const CLASSES = 64;
const CLASS_FACTOR = 1.25;

/** Upper ends of the classes in which the broker counts durations of merged events, in ms; one more is for the rest. */
const MERGED_TOOK_MS = [1, 5, 10, 50, 100, 500, 1_000, 5_000, 30_000, 60_000];

/** Figures that are counted for each second. */
const COUNTED = ["in", "out", "bad"] as const;
type Counted = (typeof COUNTED)[number];

const COUNTED_AS: Readonly<Partial<Record<EventView["kind"], Counted>>> = {
  accepted: "in",
  arrived: "in",
  acked: "out",
  retried: "bad",
  deadLettered: "bad",
  dropped: "bad",
};

/** Columns as a chart takes them: seconds since 1970, and for each of them a figure; `null` where there is none. */
export interface Columns {
  readonly seconds: number[];
  readonly in: (number | null)[];
  readonly out: (number | null)[];
  readonly bad: (number | null)[];
  readonly waiting: (number | null)[];
  readonly oldest: (number | null)[];
  readonly p50: (number | null)[];
  readonly p99: (number | null)[];
}

/** Figures of a queue in each of the last `SAMPLED_SECONDS`, in memory that does not grow. */
export class Samples {
  readonly #counts: Readonly<Record<Counted, Float64Array>>;
  readonly #waiting = new Float64Array(SAMPLED_SECONDS);
  readonly #oldest = new Float64Array(SAMPLED_SECONDS);
  readonly #took = new Uint32Array(SAMPLED_SECONDS * CLASSES);
  /** The second that each slot holds. */
  readonly #second = new Float64Array(SAMPLED_SECONDS).fill(-1);
  #newest = -1;
  /** Totals of events that the queue reported last. */
  #totals: FiguresView["totals"] | null = null;
  /** Second from which events are known. Before it "none" would be a guess. */
  #since = Number.POSITIVE_INFINITY;

  constructor() {
    const column = () => new Float64Array(SAMPLED_SECONDS);
    this.#counts = { in: column(), out: column(), bad: column() };
  }

  /** Notes that events are known from a moment on, in ms. */
  knowsSince(ms: number): void {
    this.#since = Math.min(this.#since, Math.floor(ms / 1_000));
  }

  addEvent({ kind, at, messages, merged }: EventView): void {
    const first = Math.floor(Date.parse(at) / 1_000);
    const last = merged === null ? first : Math.floor(Date.parse(merged.until) / 1_000);
    const counted = COUNTED_AS[kind];
    // What was merged happened somewhere in this time: evenly is as good a guess as any.
    const share = messages / (last - first + 1);
    for (let second = first; second <= last; second++) {
      const slot = this.#slotOf(second);
      if (slot === null) continue;
      if (counted !== undefined) this.#counts[counted][slot] = (this.#counts[counted][slot] ?? 0) + share;
    }
  }

  /** Counts the duration of a delivery, or of those that an event stands for. */
  addDuration({ at, tookMs, merged }: EventView): void {
    if (tookMs === null && merged === null) return;
    const slot = this.#slotOf(Math.floor(Date.parse(merged?.until ?? at) / 1_000));
    if (slot === null) return;
    if (tookMs !== null) this.#addTook(slot, tookMs, 1);
    merged?.tookMs?.forEach((count, i) => {
      this.#addTook(slot, MERGED_TOOK_MS[i] ?? Number.MAX_SAFE_INTEGER, count);
    });
  }

  /** Forgets the latest totals: the next ones do not go on from them. */
  forgetTotals(): void {
    this.#totals = null;
  }

  /** Records the state of the queue, and how much has happened since the figures before. */
  addFigures({ now, totals, messages: { ready, delayed, leased }, oldestMessageAt }: FiguresView): void {
    const nowMs = Date.parse(now);
    const before = this.#totals;
    this.#totals = totals;
    this.addLevel(
      nowMs,
      ready + delayed + leased,
      oldestMessageAt === null ? null : nowMs - Date.parse(oldestMessageAt),
    );
    const slot = this.#slotOf(Math.floor(nowMs / 1_000));
    if (slot === null) return;
    this.knowsSince(nowMs);
    if (before === null) return;
    for (const [kind, counted] of Object.entries(COUNTED_AS) as [EventView["kind"], Counted][]) {
      // A queue that fell asleep counts from nothing when it wakes up.
      const grown = (totals[kind] ?? 0) - (before[kind] ?? 0);
      this.#counts[counted][slot] = (this.#counts[counted][slot] ?? 0) + Math.max(0, grown);
    }
  }

  /** Records how many messages the queue held at a moment, and the age of the oldest one. */
  addLevel(ms: number, waiting: number, oldestMs: number | null): void {
    const slot = this.#slotOf(Math.floor(ms / 1_000));
    if (slot === null) return;
    this.#waiting[slot] = waiting;
    this.#oldest[slot] = oldestMs === null ? 0 : oldestMs / 1_000;
  }

  /** The columns of all seconds up to a moment. Levels stay what they were until another one is known. */
  columns(nowMs: number): Columns {
    const now = Math.floor(nowMs / 1_000);
    this.#slotOf(now);
    const columns: Columns = {
      seconds: [],
      in: [],
      out: [],
      bad: [],
      waiting: [],
      oldest: [],
      p50: [],
      p99: [],
    };
    let waiting: number | null = null;
    let oldest: number | null = null;
    for (let second = now - SAMPLED_SECONDS + 1; second <= now; second++) {
      const slot = this.#held(second);
      const isKnown = second >= this.#since;
      columns.seconds.push(second);
      for (const name of COUNTED) {
        columns[name].push(isKnown ? (slot === null ? 0 : (this.#counts[name][slot] ?? 0)) : null);
      }
      if (slot !== null && !Number.isNaN(this.#waiting[slot])) {
        waiting = this.#waiting[slot] ?? null;
        oldest = this.#oldest[slot] ?? null;
      } else if (oldest !== null && oldest > 0) oldest++;
      columns.waiting.push(waiting);
      columns.oldest.push(oldest);
      columns.p50.push(slot === null ? null : this.#percentile(slot, 0.5));
      columns.p99.push(slot === null ? null : this.#percentile(slot, 0.99));
    }
    return columns;
  }

  #addTook(slot: number, ms: number, count: number): void {
    const at = slot * CLASSES + classOf(ms);
    this.#took[at] = (this.#took[at] ?? 0) + count;
  }

  #percentile(slot: number, part: number): number | null {
    const counts = this.#took.subarray(slot * CLASSES, (slot + 1) * CLASSES);
    const total = counts.reduce((sum, count) => sum + count, 0);
    if (total === 0) return null;
    let passed = 0;
    for (const [index, count] of counts.entries()) {
      passed += count;
      if (passed >= part * total) return CLASS_FACTOR ** index;
    }
    return null;
  }

  /** The slot of a second, emptied of what was there before; `null` for one that is too old. */
  #slotOf(second: number): number | null {
    if (second <= this.#newest - SAMPLED_SECONDS) return null;
    this.#newest = Math.max(this.#newest, second);
    const slot = second % SAMPLED_SECONDS;
    if (this.#second[slot] !== second) {
      this.#second[slot] = second;
      for (const name of COUNTED) this.#counts[name][slot] = 0;
      this.#waiting[slot] = Number.NaN;
      this.#took.fill(0, slot * CLASSES, (slot + 1) * CLASSES);
    }
    return slot;
  }

  #held(second: number): number | null {
    const slot = second % SAMPLED_SECONDS;
    return this.#second[slot] === second ? slot : null;
  }
}

function classOf(ms: number): number {
  if (ms <= 1) return 0;
  return Math.min(CLASSES - 1, Math.ceil(Math.log(ms) / Math.log(CLASS_FACTOR)));
}
