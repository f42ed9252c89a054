import { FINISHED_MESSAGES_MAX, makeUnreadable, PackedIndex, packMessages } from "@sluice/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { testId } from "../../../test/messages.ts";
import { FINISHED_FIRST_SLOT } from "../../store/store.ts";
import { FINISHED_BYTES_MAX, FINISHED_ROW_BYTES, FINISHED_ROW_MESSAGES, Finished } from "./finished.ts";

/** Bytes of a record beside its body. */
const HEADER_BYTES = 40;

interface Known {
  readonly id: string;
  readonly bytes: number;
}

/** Finished messages of a queue whose rows are in memory, beside a plain list of them, newest last. */
class Ring {
  nowMs = 1_000;
  keptMs: number | null = null;
  finishedMax: number;
  finished: Finished;
  rowsWritten = 0;
  /** Whether segments are in memory, and not only stored. */
  areInMemory = true;
  reads = 0;
  readonly rows = new Map<number, Uint8Array>();
  readonly segments = new Map<number, Uint8Array>();
  written: Known[] = [];
  waiting: Known[] = [];

  constructor(finishedMax: number) {
    this.finishedMax = finishedMax;
    this.finished = this.#start();
  }

  /** Ends the messages of a new segment, in a turn. */
  end(bodies: readonly number[]): Known[] {
    const segmentId = this.segments.size + 1;
    const known = bodies.map((bytes) => ({ id: testId(), bytes: bytes + HEADER_BYTES }));
    const messages = known.map(({ id }, i) => {
      return { id, contentType: "bytes", body: new Uint8Array(bodies[i] ?? 0) } as const;
    });
    this.segments.set(segmentId, packMessages(messages));
    this.waiting.push(...known);
    this.finished.note("acked", { segmentId, from: 0, to: bodies.length, attempts: 1 }, { by: "shop" });
    this.finished.collect();
    return known;
  }

  write(): void {
    this.finished.write();
    this.written.push(...this.waiting);
    this.waiting = [];
  }

  restart(): void {
    this.finished = this.#start();
    this.waiting = [];
  }

  clear(): void {
    this.finished.clear();
    this.written = [];
    this.waiting = [];
  }

  ids(): string[] {
    return [...this.finished.list()].map(({ payload, at }) => payload.id(at));
  }

  /** Ids that a plain list would have. */
  expected(): string[] {
    const ids: string[] = [];
    let bytes = 0;
    for (const known of [...this.written, ...this.waiting].reverse()) {
      bytes += known.bytes;
      if (ids.length === this.finishedMax || bytes > FINISHED_BYTES_MAX) break;
      ids.push(known.id);
    }
    return ids;
  }

  #start(): Finished {
    const ring = this;
    const store = {
      journalHeads: (bytes: number, from = 0, to = Infinity) =>
        [...this.rows]
          .filter(([slot]) => slot >= from && slot < to)
          .map(([slot, body]) => ({ slot, head: body.subarray(0, bytes) })),
      readJournal: (slot: number) => this.rows.get(slot) ?? null,
      writeJournal: (slot: number, body: Uint8Array) => {
        this.rowsWritten += 1;
        this.rows.set(slot, body);
      },
      deleteJournal: (from: number) => {
        for (const slot of this.rows.keys()) if (slot >= from) this.rows.delete(slot);
      },
      readPayload: (id: number) => {
        this.reads += 1;
        return this.segments.get(id) ?? null;
      },
    };
    const ports = {
      store,
      write: (write: () => void) => write(),
      inMemory: (id: number) => {
        const packed = this.areInMemory ? this.segments.get(id) : undefined;
        return packed && new PackedIndex(packed);
      },
      get nowMs() {
        return ring.nowMs;
      },
      get keptMs() {
        return ring.keptMs;
      },
      get finishedMax() {
        return ring.finishedMax;
      },
    };
    return new Finished(ports, () => {});
  }
}

type Step = { readonly end: readonly number[] } | "write" | "restart" | "clear";

const body = fc.oneof(
  { weight: 8, arbitrary: fc.nat(200) },
  { weight: 1, arbitrary: fc.integer({ min: FINISHED_ROW_BYTES - 100, max: FINISHED_ROW_BYTES + 100 }) },
  { weight: 1, arbitrary: fc.constant(1_000_000) },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ end: fc.array(body, { minLength: 1, maxLength: 12 }) }) },
  {
    weight: 4,
    arbitrary: fc.integer({ min: 1, max: 700 }).map((count) => ({ end: Array<number>(count).fill(1) })),
  },
  { weight: 8, arbitrary: fc.constant("write" as const) },
  { weight: 3, arbitrary: fc.constant("restart" as const) },
  { weight: 1, arbitrary: fc.constant("clear" as const) },
);

describe("finished messages", () => {
  it("finished messages are those of a plain list that were the last, over restarts", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(1, 2, FINISHED_ROW_MESSAGES, FINISHED_MESSAGES_MAX),
        fc.array(step, { maxLength: 25 }),
        (finishedMax, steps) => {
          const ring = new Ring(finishedMax);
          for (const each of steps) {
            if (typeof each === "object") ring.end(each.end);
            else ring[each]();
            expect(ring.ids()).toEqual(ring.expected());
            expect(ring.finished.count).toBeGreaterThanOrEqual(ring.expected().length);
            expect(ring.finished.count).toBeLessThanOrEqual(finishedMax);
          }
          expect([...ring.rows.keys()].every((slot) => slot >= FINISHED_FIRST_SLOT)).toBe(true);
          const stored = [...ring.rows.values()].reduce((sum, row) => sum + row.byteLength, 0);
          expect(stored).toBeLessThan(3 * FINISHED_BYTES_MAX);
        },
      ),
      { numRuns: 60 },
    );
  });

  it.each([
    [999, 999],
    [1_000, 1_000],
    [1_001, 1_000],
  ])("of %i messages in one turn the last %i are kept", (count, kept) => {
    const ring = new Ring(FINISHED_MESSAGES_MAX);
    const known = ring.end(Array<number>(count).fill(1));
    ring.write();
    ring.restart();
    expect(ring.ids()).toEqual(
      known
        .slice(-kept)
        .reverse()
        .map(({ id }) => id),
    );
    expect(ring.finished.count).toBe(kept);
  });

  it.each([
    [-1, 4],
    [0, 4],
    [1, 3],
  ])("of four messages with %i bytes more than fit the last %i are kept", (more, kept) => {
    const quarter = FINISHED_BYTES_MAX / 4 - HEADER_BYTES;
    for (const isWritten of [false, true]) {
      const ring = new Ring(FINISHED_MESSAGES_MAX);
      const known = [quarter + more, quarter, quarter, quarter].flatMap((bytes) => ring.end([bytes]));
      if (isWritten) ring.write();
      expect(ring.ids()).toEqual(
        known
          .slice(-kept)
          .reverse()
          .map(({ id }) => id),
      );
    }
  });

  it.each([
    [FINISHED_ROW_MESSAGES - 1, 1],
    [FINISHED_ROW_MESSAGES, 1],
    [FINISHED_ROW_MESSAGES + 1, 2],
    [FINISHED_MESSAGES_MAX, 4],
  ])("%i small messages take %i row(s)", (count, rows) => {
    const ring = new Ring(FINISHED_MESSAGES_MAX);
    ring.end(Array<number>(count).fill(1));
    ring.write();
    expect([ring.rows.size, ring.rowsWritten]).toEqual([rows, rows]);
  });

  it.each([
    [-1, 1],
    [0, 2],
    [1, 2],
  ])("a message of a row's bytes and %i more leads to %i row(s) with the next one", (more, rows) => {
    const ring = new Ring(FINISHED_MESSAGES_MAX);
    ring.end([FINISHED_ROW_BYTES + more - HEADER_BYTES, 1]);
    ring.write();
    expect(ring.rows.size).toBe(rows);
  });

  it("a row takes the next messages, also after a restart, until it is full", () => {
    const ring = new Ring(FINISHED_MESSAGES_MAX);
    for (let i = 0; i < FINISHED_ROW_MESSAGES; i++) {
      ring.end([10]);
      ring.write();
      if (i % 10 === 0) ring.restart();
    }
    expect(ring.rows.size).toBe(1);
    ring.end([10]);
    ring.write();
    expect(ring.rows.size).toBe(2);
    expect(ring.ids()).toEqual(ring.expected());
  });

  it("rows of messages that no longer count are overwritten", () => {
    const ring = new Ring(FINISHED_MESSAGES_MAX);
    for (let i = 0; i < 30; i++) {
      ring.end(Array<number>(FINISHED_ROW_MESSAGES).fill(1));
      ring.write();
    }
    expect(ring.rows.size).toBe(FINISHED_MESSAGES_MAX / FINISHED_ROW_MESSAGES + 1);
    expect(ring.ids()).toEqual(ring.expected());
  });

  it("a row that is damaged takes only its own messages along", () => {
    const ring = new Ring(FINISHED_MESSAGES_MAX);
    ring.end(Array<number>(FINISHED_ROW_MESSAGES).fill(1));
    const last = ring.end([1, 1]);
    ring.write();
    const row = ring.rows.get(FINISHED_FIRST_SLOT);
    if (row !== undefined) row[40] = 1 + (row[40] ?? 0);
    ring.restart();
    expect(ring.ids()).toEqual(last.reverse().map(({ id }) => id));
    // The one that was to take more is damaged too.
    for (const each of ring.rows.values()) each.fill(7, 40);
    ring.restart();
    const [next] = ring.end([1]);
    ring.write();
    expect(ring.ids()).toEqual([next?.id]);
  });

  it.each([
    ["a number that is none", (view: DataView) => view.setFloat64(4, NaN, true)],
    ["a number that nothing can follow", (view: DataView) => view.setFloat64(4, 2 ** 60, true)],
    ["a time that is none", (view: DataView) => view.setFloat64(12, NaN, true)],
    ["more messages than a row has", (view: DataView) => view.setUint32(20, FINISHED_ROW_MESSAGES + 1, true)],
    ["more bytes than a row has", (view: DataView) => view.setUint32(24, FINISHED_BYTES_MAX + 1, true)],
  ])("a row whose head is damaged, with %s, takes only its own messages along", (_, damage) => {
    const ring = new Ring(FINISHED_MESSAGES_MAX);
    const [first] = [ring.end(Array<number>(FINISHED_ROW_MESSAGES).fill(1)), ring.end([1])];
    ring.write();
    const damaged = ring.rows.get(FINISHED_FIRST_SLOT + 1) as Uint8Array;
    damage(new DataView(damaged.buffer, damaged.byteOffset));
    ring.restart();
    const kept = first.map(({ id }) => id).reverse();
    expect(ring.ids()).toEqual(kept);
    expect(ring.finished.count).toBe(FINISHED_ROW_MESSAGES);
    const [next] = ring.end([1]);
    ring.write();
    ring.restart();
    expect(ring.ids()).toEqual([next?.id, ...kept]);
    expect(ring.rows.size).toBe(2);
  });

  it("a message that is no longer in memory is read, up to some bytes between two writes", () => {
    const ring = new Ring(FINISHED_MESSAGES_MAX);
    ring.areInMemory = false;
    const half = FINISHED_BYTES_MAX / 2 - HEADER_BYTES;
    const [first, second] = [half, half].flatMap((bytes) => ring.end([bytes]));
    ring.end([1]);
    expect(ring.reads).toBe(2);
    expect(ring.ids()).toEqual([second?.id, first?.id]);
    ring.write();
    const [next] = ring.end([1]);
    expect(ring.reads).toBe(3);
    expect(ring.ids()).toEqual([next?.id, second?.id]);
  });

  it("a message whose bytes are damaged is left out", () => {
    const ring = new Ring(FINISHED_MESSAGES_MAX);
    const known = [testId(), testId(), testId()];
    const packed = packMessages(known.map((id) => ({ id, contentType: "text", body: new Uint8Array(1) })));
    makeUnreadable(packed, 41, 82);
    ring.segments.set(1, packed);
    ring.finished.note("acked", { segmentId: 1, from: 0, to: 3, attempts: 1 });
    ring.finished.collect();
    ring.write();
    expect(ring.ids()).toEqual([known[2], known[0]]);
  });

  it("those that are older than the history is kept are not shown", () => {
    const ring = new Ring(FINISHED_MESSAGES_MAX);
    ring.keptMs = 60_000;
    const [first] = ring.end([1]);
    ring.write();
    ring.nowMs += 59_999;
    expect(ring.ids()).toEqual([first?.id]);
    const [second] = ring.end([1]);
    ring.nowMs += 1;
    expect(ring.ids()).toEqual([second?.id]);
    expect(ring.finished.count).toBe(1);
    ring.nowMs += 60_000;
    expect([ring.ids(), ring.finished.count]).toEqual([[], 0]);
  });

  it("none are kept, shown or written where their number is 0", () => {
    const ring = new Ring(1);
    ring.end([1]);
    ring.write();
    ring.finishedMax = 0;
    expect([ring.ids(), ring.finished.count]).toEqual([[], 0]);
    ring.end([1]);
    ring.write();
    expect(ring.rowsWritten).toBe(1);
    ring.clear();
    expect(ring.rows.size).toBe(0);
  });
});
