import fc from "fast-check";
import { expect, it } from "vitest";
import { covers, idsIn } from "./journal/event.ts";
import { QuietEvents, type QuietFacts, unitsOf } from "./quiet-events.ts";
import { positionIn } from "./story/story.ts";

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

const UNITS_MAX = 1_000;

/** Notes every step at its time. */
function eventsFrom(steps: readonly Step[]): QuietEvents {
  const quiet = new QuietEvents(UNITS_MAX);
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
        const units = single.map((event) => unitsOf(event));
        expect(units.reduce((sum, each) => sum + each, 0)).toBeLessThan(UNITS_MAX + Math.max(1, ...units));
        const merged = events.filter((event) => event.merged !== undefined);
        expect(new Set(merged.map(({ kind, by }) => `${kind} ${by}`)).size).toBe(merged.length);
        for (const { t, merged: of } of merged) {
          expect(Math.floor((of?.untilMs ?? 0) / 1_000)).toBe(Math.floor(t / 1_000));
        }
      }
    }),
  );
});

it.each([-1, 0, 1])(
  "quiet events are merged from the limit on, not before, with how long they took: %i units",
  (more) => {
    const one = unitsOf({ at: [1, 0, 1] });
    const quiet = new QuietEvents(2 * one + more);
    let n = 0;
    const note = (count: number, tookMs: number) =>
      quiet.note(
        5,
        { kind: "acked", by: "c", count, at: [1, n, n + count], tookMs },
        () => n++,
        () => ({ batch: n }),
      );
    note(1, 1);
    note(1, 1);
    expect(quiet.peek().every(({ merged }) => merged === undefined)).toBe(true);
    if (more > 0) note(1, 1);
    note(3, 2);
    note(4, 60_000);
    const events = quiet.take();
    expect(events).toHaveLength(more > 0 ? 4 : 3);
    expect(events.at(-1)).toMatchObject({
      count: 7,
      merged: { events: 2, tookMs: [0, 1, 0, 0, 0, 0, 0, 0, 0, 1] },
    });
  },
);

it("the ids of an event count as much as they take in a row", () => {
  const ids = "0123456789abcdef".repeat(2 * 100);
  const event = {
    n: 1_700_000_123,
    kind: "delivered",
    t: 1_700_000_000_000,
    count: 100,
    at: [1_234, 0, 100],
    by: "shop",
  };
  const stored = JSON.stringify({ ...event, ids, batch: 12_345, attempt: 1 });
  const units = unitsOf({ at: event.at, ids });
  expect(Math.abs(units - stored.length)).toBeLessThan(0.02 * stored.length);
  const single = JSON.stringify({ ...event, count: 1, ids: ids.slice(0, 32), batch: 12_345, attempt: 1 });
  expect(Math.abs(unitsOf({ at: event.at, ids: ids.slice(0, 32) }) - single.length)).toBeLessThan(
    0.2 * single.length,
  );
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

it("quiet events join sends of one moment with the same sender and delay, with their ids in the order of their places", () => {
  const quiet = new QuietEvents();
  let n = 0;
  const send = (index: number, by: string, nowMs: number, delayMs?: number) => {
    const ids = `${index}`.padStart(32, "0");
    quiet.note(
      nowMs,
      { kind: "accepted", by, count: 1, at: [1, index, index + 1] },
      () => n++,
      () => (delayMs === undefined ? { ids } : { ids, delayMs, delay: "message" }),
    );
  };
  for (let i = 0; i < 150; i++) send(i, "shop", 5);
  send(150, "mailer", 5);
  send(151, "mailer", 6);
  send(152, "mailer", 6, 1_000);
  send(153, "mailer", 6, 1_000);
  const events = quiet.take();
  expect(events.map(({ count }) => count)).toEqual([100, 50, 1, 1, 2]);
  const named = events.flatMap((event) => idsIn(event.ids ?? "").map((id) => positionIn(event, id)));
  expect(named).toEqual(Array.from({ length: 154 }, (_, i) => [1, i]));
});
