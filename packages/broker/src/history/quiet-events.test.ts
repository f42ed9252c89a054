import fc from "fast-check";
import { expect, it } from "vitest";
import { covers } from "./event.ts";
import { QUIET_PER_SECOND_MAX, QuietEvents, type QuietFacts } from "./quiet-events.ts";

const KINDS = ["accepted", "delivered", "acked"] as const;

/** Messages in the order of their segments, with moments that only go on. */
const noted = fc.array(
  fc.record({
    kind: fc.constantFrom(...KINDS),
    by: fc.constantFrom(null, "shop", "mailer"),
    count: fc.integer({ min: 1, max: 400 }),
    segmentId: fc.integer({ min: 1, max: 9 }),
    from: fc.integer({ min: 0, max: 50 }),
    laterMs: fc.constantFrom(0, 0, 0, 1, 300, 1_000),
    tookMs: fc.option(fc.integer({ min: 0, max: 40_000 }), { nil: undefined }),
  }),
  { maxLength: 60 },
);

interface Step {
  readonly laterMs: number;
  readonly kind: QuietFacts["kind"];
  readonly by: string | null;
  readonly count: number;
  readonly segmentId: number;
  readonly from: number;
  readonly tookMs: number | undefined;
}

function factsOf({ kind, by, count, segmentId, from, tookMs }: Omit<Step, "laterMs">): QuietFacts {
  return {
    kind,
    by,
    count,
    at: [segmentId, from, from + count],
    ...(tookMs === undefined ? {} : { tookMs }),
  };
}

/** Notes every step at its time. */
function eventsFrom(steps: readonly Step[]): QuietEvents {
  const quiet = new QuietEvents();
  let [nowMs, n] = [0, 0];
  for (const step of steps) {
    nowMs += step.laterMs;
    quiet.note(
      nowMs,
      factsOf(step),
      () => n++,
      () => ({}),
    );
  }
  return quiet;
}

it("quiet events lose no message, however they are joined and merged, and cover each of them", () => {
  fc.assert(
    fc.property(noted, (steps) => {
      const quiet = eventsFrom(steps);
      const events = quiet.take();
      for (const kind of KINDS) {
        const count = (all: readonly { readonly kind: string; readonly count: number }[]) =>
          all.reduce((sum, event) => sum + (event.kind === kind ? event.count : 0), 0);
        expect(count(events)).toBe(count(steps));
      }
      for (const { kind, by, segmentId, from, count } of steps) {
        const own = events.filter((event) => event.kind === kind && (event.by ?? null) === by);
        for (const index of [from, from + count - 1]) {
          expect(own.some((event) => covers(event, segmentId, index))).toBe(true);
        }
      }
      expect(events.map((event) => event.n)).toEqual(events.map((event) => event.n).sort((a, b) => a - b));
      expect(new Set(events.map((event) => event.n)).size).toBe(events.length);
      expect(quiet.isEmpty).toBe(true);
    }),
  );
});

it("quiet events are merged by kind, peer and second beyond the limit, and no more than that is kept of a second", () => {
  fc.assert(
    fc.property(noted, (steps) => {
      const quiet = eventsFrom(steps);
      const bySecond = Map.groupBy(quiet.take(), ({ t }) => Math.floor(t / 1_000));
      for (const events of bySecond.values()) {
        const single = events.filter(({ merged }) => merged === undefined);
        const biggest = Math.max(0, ...single.map(({ count }) => count));
        expect(single.reduce((sum, { count }) => sum + count, 0)).toBeLessThan(
          QUIET_PER_SECOND_MAX + biggest,
        );
        const merged = events.filter((event) => event.merged !== undefined);
        expect(new Set(merged.map(({ kind, by }) => `${kind} ${by}`)).size).toBe(merged.length);
        for (const { t, merged: of } of merged) {
          expect(Math.floor((of?.untilMs ?? 0) / 1_000)).toBe(Math.floor(t / 1_000));
        }
      }
    }),
  );
});

it("quiet events are merged from the limit on, not before, with how long they took", () => {
  const quiet = new QuietEvents();
  let n = 0;
  const note = (count: number, tookMs: number) =>
    quiet.note(
      5,
      { kind: "acked", by: "c", count, at: [1, n, n + count], tookMs },
      () => n++,
      () => ({ batch: n }),
    );
  note(QUIET_PER_SECOND_MAX - 1, 1);
  note(1, 1);
  expect(quiet.peek().every(({ merged }) => merged === undefined)).toBe(true);
  note(3, 2);
  note(4, 60_000);
  expect(quiet.take().at(-1)).toMatchObject({
    count: 7,
    merged: { events: 2, tookMs: [0, 1, 0, 0, 0, 0, 0, 0, 0, 1] },
  });
});

it("quiet events join acknowledgements that come one by one at a moment into one event", () => {
  const quiet = new QuietEvents();
  let n = 0;
  for (let i = 0; i < 150; i++) {
    quiet.note(
      5,
      { kind: "acked", by: "SQS", count: 1, at: [1, i, i + 1] },
      () => n++,
      () => ({}),
    );
  }
  expect(quiet.take().map(({ count }) => count)).toEqual([100, 50]);
});
