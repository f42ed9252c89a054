import { FIGURES_WINDOWS, type FiguresReply, type FiguresWindow, type HistoryKind } from "@sluice/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeRow, ROW_HEAD_BYTES, type RowHead, readHead, readText } from "../journal/journal-row.ts";
import { type Bucket, CLOCK_MOVED_MS_MIN, type Level, MARKS_MAX } from "./bucket.ts";
import { Figures } from "./figures.ts";
import { MINUTES_FIRST_SLOT, MINUTES_PER_ROW, MINUTES_ROWS } from "./minutes.ts";

const START_MS = 1_700_000_040_000;
const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];
const NOTHING: Level = { held: 0, oldestMs: null };

/** Figures on a disk, beside a plain log of what was noted and not lost. */
class Kept {
  nowMs = START_MS;
  movedMs = 0;
  level = NOTHING;
  readonly rows = new Map<number, Uint8Array>();
  /** `passedMs` is the time that has passed without that by which the clock was moved. */
  log: { readonly atMs: number; readonly passedMs: number; kind: HistoryKind; messages: number }[] = [];
  passedMs = 0;
  moves = 0;
  written = 0;
  figures = this.#opened();
  #logWritten = 0;

  note(kind: HistoryKind, messages: number, tookMs?: number): void {
    this.figures.note(kind, messages);
    if (tookMs !== undefined) this.figures.ended(tookMs);
    this.log.push({ atMs: this.nowMs, passedMs: this.passedMs, kind, messages });
    this.figures.endTurn();
  }

  pass(ms: number): void {
    this.nowMs += ms;
    this.passedMs += ms;
  }

  move(ms: number): void {
    this.nowMs += ms;
    this.movedMs += ms;
    this.moves += 1;
    // As long as the queue is open, it notices. Whoever looks, or the next event, does it.
    this.read("1h");
  }

  flush(): void {
    for (const { slot, body } of this.figures.take()) {
      this.rows.set(slot, body);
      this.written += 1;
    }
    this.#logWritten = this.log.length;
  }

  /** Ends without a flush: what was not written is lost. */
  crash(): void {
    this.log = this.log.slice(0, this.#logWritten);
    this.movedMs = 0;
    this.figures = this.#opened();
  }

  read(window: FiguresWindow): FiguresReply {
    return this.figures.read({ window }, true);
  }

  #opened(): Figures {
    const kept = this;
    return new Figures({
      get nowMs() {
        return kept.nowMs;
      },
      get movedMs() {
        return kept.movedMs;
      },
      get level() {
        return kept.level;
      },
      store: { readJournal: (slot) => kept.rows.get(slot) ?? null },
      heads: () => [...kept.rows].map(([slot, body]) => ({ slot, head: body.slice(0, ROW_HEAD_BYTES) })),
    });
  }
}

function sumOf(values: readonly number[] = []): number {
  return values.reduce((sum, value) => sum + value, 0);
}

/** A row as it was written without the times of the first and the last event of its minutes. */
function withoutTimes(body: Uint8Array): Uint8Array {
  const minutes = JSON.parse(readText(body) ?? "[]") as Bucket[];
  const texts = minutes.map(({ firstMs: _, lastMs: __, ...minute }) => JSON.stringify(minute));
  const { first, last, low, high } = readHead(body.slice(0, ROW_HEAD_BYTES)) as RowHead;
  return encodeRow({ first, last, low, high }, texts);
}

const steps = fc.array(
  fc.oneof(
    fc.record({
      note: fc.constantFrom<HistoryKind>("accepted", "acked", "retried"),
      messages: fc.integer({ min: 1, max: 9 }),
    }),
    fc.record({ pass: fc.constantFrom(1, 400, 3 * SECOND, 40 * SECOND, 7 * MINUTE, HOUR) }),
    fc.record({ move: fc.constantFrom(90 * SECOND, 15 * MINUTE, HOUR, 25 * HOUR) }),
    fc.record({ flush: fc.constant(true) }),
    fc.record({ crash: fc.constant(true) }),
  ),
  { maxLength: 60 },
);

function run(all: readonly object[]): Kept {
  const kept = new Kept();
  for (const step of all as Record<string, never>[]) {
    if (step.note !== undefined) kept.note(step.note, step.messages ?? 0);
    else if (step.pass !== undefined) kept.pass(step.pass);
    else if (step.move !== undefined) kept.move(step.move);
    else if (step.flush !== undefined) kept.flush();
    else kept.crash();
  }
  return kept;
}

describe("figures by the minute", () => {
  it.each(["1h", "24h"] as const)(
    "are those of a plain log in a window of %s, over crashes and moves of the clock",
    (window) => {
      fc.assert(
        fc.property(steps, (all) => {
          const kept = run(all);
          const { startsMs, counts } = kept.read(window);
          const { stepMs, columns } = FIGURES_WINDOWS[window];
          expect(startsMs).toHaveLength(columns);
          for (const kind of ["accepted", "acked", "retried"] as const) {
            const expected = new Map<number, number>();
            for (const event of kept.log) {
              if (event.kind !== kind) continue;
              const start = Math.floor(event.atMs / stepMs) * stepMs;
              expected.set(start, (expected.get(start) ?? 0) + event.messages);
            }
            expect(startsMs.map((start) => expected.get(start) ?? 0)).toEqual(
              counts[kind] ?? startsMs.map(() => 0),
            );
          }
        }),
      );
    },
  );

  it.each(["5m", "1h", "24h"] as const)(
    "have in a window of %s whatever happened in so much time that has passed, however the clock was moved",
    (window) => {
      fc.assert(
        fc.property(steps, (all) => {
          // A crash takes the knowledge of a move with it that was not written.
          const kept = run(all.filter((step) => !("crash" in step)));
          const { startsMs, counts } = kept.read(window);
          const { stepMs, columns } = FIGURES_WINDOWS[window];
          // A move may cost the rest of the columns that it begins and ends in.
          const coveredMs = (columns - 2 - 2 * kept.moves) * stepMs;
          const since = kept.log.filter(({ passedMs }) => kept.passedMs - passedMs <= coveredMs);
          for (const { atMs } of since) expect(startsMs).toContain(Math.floor(atMs / stepMs) * stepMs);
          const total = Object.values(counts).reduce((sum, column) => sum + sumOf(column), 0);
          expect(total).toBeGreaterThanOrEqual(sumOf(since.map(({ messages }) => messages)));
        }),
      );
    },
  );

  it("are by the second where this epoch has them, and the rest of a minute is spread over its seconds before", () => {
    fc.assert(
      fc.property(steps, (all) => {
        const kept = run(all.filter((step) => !("move" in step)));
        const { startsMs, counts } = kept.read("5m");
        const first = Math.ceil((startsMs[0] ?? 0) / MINUTE) * MINUTE;
        for (let minute = first; minute < kept.nowMs; minute += MINUTE) {
          const isIn = (ms: number) => ms >= minute && ms < minute + MINUTE;
          const shown = Object.values(counts).flatMap((column) =>
            column.filter((_, i) => isIn(startsMs[i] ?? 0)),
          );
          const logged = kept.log.filter(({ atMs }) => isIn(atMs)).map(({ messages }) => messages);
          expect(sumOf(shown)).toBe(sumOf(logged));
          expect(shown.every(Number.isInteger)).toBe(true);
        }
      }),
    );
  });

  it("are in whole messages between the first and the last event of a minute that no second is known of", () => {
    const kept = new Kept();
    kept.pass(20 * SECOND);
    kept.level = { held: 58, oldestMs: kept.nowMs };
    kept.note("accepted", 58);
    kept.pass(9_999);
    kept.level = NOTHING;
    kept.note("acked", 50);
    kept.flush();
    kept.pass(20 * SECOND);
    kept.crash();
    const { counts, held, ageMs, startsMs } = kept.read("5m");
    const first = startsMs.indexOf(START_MS + 20 * SECOND);
    const known = [first, first + 10] as const;
    expect(sumOf(counts.accepted?.slice(...known))).toBe(58);
    expect(sumOf(counts.accepted)).toBe(58);
    expect(counts.acked?.slice(...known)).toEqual(Array(10).fill(5));
    expect([held[first - 1], ageMs[first - 1], held[first], held[first + 10]]).toEqual([null, null, 58, 0]);
    expect(counts.accepted?.every(Number.isInteger)).toBe(true);
  });

  it("are spread over the whole of a minute whose row does not say when its events were", () => {
    const kept = new Kept();
    kept.pass(30 * SECOND);
    kept.note("accepted", 120);
    kept.flush();
    for (const [slot, body] of kept.rows) kept.rows.set(slot, withoutTimes(body));
    kept.pass(MINUTE);
    kept.crash();
    const { counts, startsMs, sinceMs } = kept.read("5m");
    const first = startsMs.indexOf(START_MS);
    expect(counts.accepted?.slice(first, first + 60)).toEqual(Array(60).fill(2));
    expect(sinceMs).toBe(START_MS);
    // What is added does not say when the rest was.
    kept.note("accepted", 1);
    kept.flush();
    expect(kept.read("5m").sinceMs).toBe(START_MS);
  });

  it("are known since the first event of the oldest row, or since somebody looked before it", () => {
    const kept = new Kept();
    kept.pass(25 * SECOND + 7);
    kept.note("accepted", 1);
    const sinceMs = kept.nowMs;
    expect(kept.read("1h").sinceMs).toBe(sinceMs);
    kept.pass(10 * SECOND);
    kept.note("accepted", 1);
    kept.flush();
    expect(kept.read("1h").sinceMs).toBe(sinceMs);
    kept.pass(MINUTE);
    kept.crash();
    expect(kept.read("1h").sinceMs).toBe(sinceMs);
    kept.note("accepted", 1);
    kept.flush();
    expect(kept.read("1h").sinceMs).toBe(sinceMs);

    const watched = new Kept();
    expect(watched.read("1h").sinceMs).toBe(START_MS);
    watched.pass(3 * MINUTE);
    watched.note("accepted", 1);
    watched.flush();
    expect(watched.read("1h").sinceMs).toBe(START_MS);
  });

  it("keep what was before a move of the clock in every window, and mark the move", () => {
    const kept = new Kept();
    kept.note("accepted", 100);
    kept.pass(10 * SECOND);
    kept.move(HOUR);
    for (const window of ["5m", "1h", "24h"] as const) {
      const { counts, marks } = kept.read(window);
      expect(sumOf(counts.accepted)).toBe(100);
      expect(marks).toEqual([{ kind: "clockMoved", atMs: kept.nowMs, byMs: HOUR }]);
    }
    const { startsMs, counts } = kept.read("5m");
    const spike = counts.accepted?.indexOf(100) ?? -1;
    expect(startsMs.slice(spike, spike + 12).map((start) => start - START_MS)).toEqual([
      ...Array.from({ length: 11 }, (_, i) => i * SECOND),
      HOUR + 10 * SECOND,
    ]);
  });

  it("mark no move that a running clock makes while it is set", () => {
    const kept = new Kept();
    kept.move(CLOCK_MOVED_MS_MIN - 1);
    expect(kept.read("5m").marks).toEqual([]);
    kept.move(CLOCK_MOVED_MS_MIN);
    expect(kept.read("5m").marks).toMatchObject([{ byMs: CLOCK_MOVED_MS_MIN }]);
  });

  it("mark pauses, and no more than the newest of a minute", () => {
    const kept = new Kept();
    for (let i = 0; i <= MARKS_MAX; i++) {
      kept.note(i % 2 === 0 ? "paused" : "resumed", 0);
      kept.pass(1);
    }
    kept.flush();
    kept.crash();
    const { marks, counts } = kept.read("1h");
    expect(marks).toHaveLength(MARKS_MAX);
    expect(marks[0]).toEqual({ kind: "resumed", atMs: START_MS + 1, byMs: null });
    expect(counts).toEqual({});
  });

  it("have percentiles of the window and of each column, up to the end of a class or the longest", () => {
    const kept = new Kept();
    for (let i = 0; i < 98; i++) kept.note("acked", 1, 7);
    kept.pass(MINUTE);
    for (let i = 0; i < 2; i++) kept.note("failed", 1, 3_100);
    const { p50Ms, p99Ms, took } = kept.read("1h");
    expect(took).toMatchObject({ p50Ms: 10, p99Ms: 3_100, longestMs: 3_100 });
    expect([p50Ms.at(-2), p99Ms.at(-2), p99Ms.at(-1), p99Ms.at(-3)]).toEqual([7, 7, 3_100, null]);
    kept.note("acked", 1, 100_000);
    expect(kept.read("1h").took.longestMs).toBe(100_000);
  });

  it("keep a level until another one is known, while the oldest message grows older", () => {
    const kept = new Kept();
    const oldestMs = kept.nowMs - 5 * SECOND;
    kept.level = { held: 7, oldestMs };
    kept.note("accepted", 7);
    kept.pass(3 * MINUTE);
    kept.level = NOTHING;
    kept.note("acked", 7);
    kept.pass(MINUTE);
    const { held, ageMs } = kept.read("1h");
    expect(held.slice(-6)).toEqual([null, 7, 7, 7, 0, 0]);
    expect(ageMs.slice(-6)).toEqual([null, ...[1, 2, 3].map((m) => START_MS + m * MINUTE - oldestMs), 0, 0]);
    const bySecond = kept.read("5m").held;
    expect([bySecond.at(-2), bySecond.at(-1 - (4 * MINUTE) / SECOND), bySecond[0]]).toEqual([0, 7, null]);
    expect(bySecond.filter((messages) => messages === null)).toHaveLength(300 - 1 - (4 * MINUTE) / SECOND);
  });

  it("know no more than the level where events are not noted, and of the moments at which somebody looks", () => {
    const kept = new Kept();
    kept.level = { held: 3, oldestMs: kept.nowMs };
    kept.figures.read({ window: "5m" }, false);
    kept.pass(SECOND);
    kept.level = { held: 9, oldestMs: kept.nowMs };
    kept.figures.read({ window: "5m" }, false);
    kept.pass(SECOND);
    const { isOn, sinceMs, counts, held } = kept.figures.read({ window: "5m" }, false);
    expect({ isOn, sinceMs, counts }).toEqual({ isOn: false, sinceMs: null, counts: {} });
    expect(held.slice(-4)).toEqual([null, 3, 9, 9]);
    expect(kept.figures.take()).toEqual([]);
  });

  it("are rates of the last five seconds", () => {
    const kept = new Kept();
    kept.note("accepted", 50);
    kept.note("arrived", 5);
    kept.note("acked", 10);
    kept.note("deadLettered", 1);
    expect(kept.figures.rates).toEqual({ in: 11, out: 2, dead: 0.2 });
    kept.pass(5 * SECOND);
    expect(kept.figures.rates.in).toBe(11);
    kept.pass(SECOND);
    expect(kept.figures.rates).toEqual({ in: 0, out: 0, dead: 0 });
  });
});

describe("rows of minutes", () => {
  it("are one for ten minutes, written again with what comes, and none for a quiet time", () => {
    const kept = new Kept();
    kept.nowMs = Math.ceil(START_MS / (MINUTES_PER_ROW * MINUTE)) * MINUTES_PER_ROW * MINUTE;
    for (let minute = 0; minute < MINUTES_PER_ROW; minute++) {
      kept.note("accepted", 1);
      kept.flush();
      kept.pass(MINUTE);
    }
    expect([kept.rows.size, kept.written]).toEqual([1, MINUTES_PER_ROW]);
    kept.pass(24 * HOUR);
    kept.read("24h");
    kept.flush();
    expect([kept.rows.size, kept.written]).toEqual([1, MINUTES_PER_ROW]);
  });

  it("are those of a day, of which the oldest is overwritten, in slots of their own", () => {
    const kept = new Kept();
    for (let row = 0; row < MINUTES_ROWS; row++) {
      kept.note("accepted", 1);
      kept.flush();
      if (row % 50 === 0) kept.crash();
      kept.pass(MINUTES_PER_ROW * MINUTE);
    }
    expect(kept.rows.size).toBe(MINUTES_ROWS);
    const { counts } = kept.read("24h");
    expect(sumOf(counts.accepted)).toBe(MINUTES_ROWS - 2);
    kept.note("accepted", 1);
    kept.flush();
    expect(kept.rows.size).toBe(MINUTES_ROWS);
    expect(Math.min(...kept.rows.keys())).toBe(MINUTES_FIRST_SLOT);
    expect(sumOf(kept.read("24h").counts.accepted)).toBe(MINUTES_ROWS - 1);
  });

  it("are taken for empty ones where they are damaged", () => {
    const kept = new Kept();
    kept.note("accepted", 5);
    kept.flush();
    for (const body of kept.rows.values()) body[40] = (body[40] ?? 0) ^ 4;
    kept.crash();
    expect(kept.read("1h").counts).toEqual({});
    kept.note("accepted", 2);
    kept.flush();
    kept.crash();
    expect(sumOf(kept.read("1h").counts.accepted)).toBe(2);
  });
});
