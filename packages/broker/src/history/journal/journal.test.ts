import fc from "fast-check";
import { expect, it } from "vitest";
import type { StoredEvent } from "./event.ts";
import { Journal, ROW_PRINTED_FULL, ROW_TEXT_FULL } from "./journal.ts";
import { ROW_HEAD_BYTES, readText } from "./journal-row.ts";

const SLOTS = 4;

/** A disk with rows, and a journal on it that is opened anew when asked. */
class JournalOnDisk {
  readonly rows = new Map<number, Uint8Array>();
  journal = this.#opened();

  append(events: readonly StoredEvent[]): number {
    const written = this.journal.append(events);
    for (const { slot, body } of written) this.rows.set(slot, body);
    return written.length;
  }

  restart(): void {
    this.journal = this.#opened();
  }

  /** Numbers of the events that can be read, oldest first. */
  numbers(): number[] {
    const { journal } = this;
    const events = journal
      .heads()
      .flatMap(({ slot }) => JSON.parse(journal.textAt(slot) ?? "[]") as StoredEvent[]);
    return events.map(({ n }) => n).sort((a, b) => a - b);
  }

  #opened(): Journal {
    const heads = [...this.rows].map(([slot, body]) => ({ slot, head: body.slice(0, ROW_HEAD_BYTES) }));
    return new Journal({ readJournal: (slot) => this.rows.get(slot) ?? null }, heads, {
      firstSlot: 10,
      slots: SLOTS,
    });
  }
}

/** Event with the ids of `count` messages. */
function eventOf(n: number, count: number): StoredEvent {
  return { n, kind: "accepted", t: n, count, at: [n, 0, count], by: "shop", ids: "0".repeat(32 * count) };
}

function unitsOf(event: StoredEvent): number {
  return JSON.stringify(event).length;
}

const steps = fc.array(
  fc.oneof(
    fc.record({ append: fc.array(fc.integer({ min: 1, max: 130 }), { minLength: 1, maxLength: 12 }) }),
    fc.record({ restart: fc.constant(true) }),
  ),
  { maxLength: 25 },
);

it("a journal keeps the newest events without a gap, in no more rows than it has slots, over restarts", () => {
  fc.assert(
    fc.property(steps, (all) => {
      const disk = new JournalOnDisk();
      let n = 0;
      const counts: number[] = [];
      for (const step of all) {
        if ("restart" in step) {
          disk.restart();
        } else {
          counts.push(...step.append);
          disk.append(step.append.map((count) => eventOf(n++, count)));
        }
        const kept = disk.numbers();
        expect(kept).toEqual(Array.from({ length: kept.length }, (_, i) => n - kept.length + i));
        expect(disk.rows.size).toBeLessThanOrEqual(SLOTS);
        const units = (numbers: readonly number[]) =>
          numbers.reduce((sum, number) => sum + unitsOf(eventOf(number, counts[number] ?? 0)), 0);
        expect(units(kept)).toBeGreaterThanOrEqual(
          Math.min(units([...counts.keys()]), (SLOTS - 1) * ROW_TEXT_FULL),
        );
      }
    }),
  );
});

it("a journal writes one row for what comes together, and goes on with it until it is full", () => {
  const disk = new JournalOnDisk();
  // The third one makes it full.
  const count = Math.ceil(ROW_TEXT_FULL / 3 / 32);
  expect(disk.append([eventOf(1, count), eventOf(2, count)])).toBe(1);
  expect(disk.append([eventOf(3, count)])).toBe(1);
  expect(disk.rows.size).toBe(1);
  expect(disk.append([eventOf(4, 1)])).toBe(1);
  expect(disk.rows.size).toBe(2);
});

it("a journal says which segments a row is about, and takes a damaged row for an empty one", () => {
  const disk = new JournalOnDisk();
  disk.append([eventOf(7, 1), eventOf(9, 1)]);
  const [head] = disk.journal.heads();
  expect(head).toMatchObject({ first: 7, last: 9, low: 7, high: 9, slot: 10 });
  const body = disk.rows.get(10) as Uint8Array;
  for (let i = 0; i < body.byteLength; i++) {
    const damaged = body.slice();
    damaged[i] = (damaged[i] ?? 0) ^ 4;
    expect(readText(damaged)).toBeNull();
  }
  body[50] = 0;
  disk.restart();
  expect(disk.numbers()).toEqual([]);
  disk.append([eventOf(10, 1)]);
  expect(disk.numbers()).toEqual([10]);
});

it.each([
  ["that is no number", NaN],
  ["beyond those that can be counted", 2 ** 60],
  ["below 0", -1],
])("a journal takes a row whose head has a number %s for an empty one, and overwrites it", (_, number) => {
  const disk = new JournalOnDisk();
  for (let n = 1; n <= 2; n++) disk.append([eventOf(n, ROW_TEXT_FULL / 32)]);
  for (const at of [4, 12, 20, 28]) {
    const sound = disk.rows.get(11) as Uint8Array;
    const damaged = sound.slice();
    new DataView(damaged.buffer).setFloat64(at, number, true);
    disk.rows.set(11, damaged);
    disk.restart();
    expect(disk.numbers()).toEqual([1]);
    disk.append([eventOf(2, ROW_TEXT_FULL / 32)]);
    expect(disk.numbers()).toEqual([1, 2]);
  }
});

it.each([-1, 0, 1])("what handlers print fills a row by itself, at %i of the limit", (more) => {
  const disk = new JournalOnDisk();
  const printed = (text: string): StoredEvent => ({
    n: 1,
    kind: "printed",
    t: 1,
    count: 1,
    logs: { beganMs: 0, lines: [{ afterMs: 0, level: "log", text }] },
  });
  const beside = JSON.stringify(printed("")).length;
  disk.append([printed("x".repeat(ROW_PRINTED_FULL + more - beside))]);
  disk.append([eventOf(2, 1)]);
  expect(disk.rows.size).toBe(more < 0 ? 1 : 2);
  expect(disk.numbers()).toEqual([1, 2]);
});
