import { AUDIT_ENTRIES_MAX } from "@sluice/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nodeSql } from "../../../test/node-sql.ts";
import { AuditRows } from "./audit-rows.ts";

const entry = (target: string, by = "ops") =>
  ({ action: "queue.purge", target, by, dialect: "admin" }) as const;

/** A log whose statements are counted, and which can be opened again. */
function logOf(max: number) {
  const sql = nodeSql();
  const changes: string[] = [];
  const counting = {
    exec: (text: string, ...bindings: never[]) => {
      if (/^(INSERT|DELETE|UPDATE)/.test(text)) changes.push(text);
      return sql.exec(text, ...bindings);
    },
  } as unknown as SqlStorage;
  const open = () => new AuditRows(counting, () => 0, max);
  return { open, changes };
}

const targets = (rows: AuditRows) => rows.read(1_000_000, null).map(({ target }) => target);

it("keeps changes over restarts, newest first, and reads on from an id", () => {
  const sql = nodeSql();
  let nowMs = 1_000;
  const open = () => new AuditRows(sql, () => nowMs);
  open().note(entry("a"));
  nowMs = 2_000;
  open().note(entry("b"));
  expect(open().read(10, null)).toEqual([
    { id: 2, atMs: 2_000, ...entry("b") },
    { id: 1, atMs: 1_000, ...entry("a") },
  ]);
  expect(open().read(10, 2)).toMatchObject([{ target: "a" }]);
  expect(open().read(1, null)).toMatchObject([{ target: "b" }]);
});

it.each([
  [-1, "q1"],
  [0, "q1"],
  [1, "q2"],
])(
  "of one actor the newest AUDIT_ENTRIES_MAX entries are kept: of %d more than that from %s on",
  (more, oldest) => {
    const rows = new AuditRows(nodeSql(), () => 0);
    const count = AUDIT_ENTRIES_MAX + more;
    for (let i = 1; i <= count; i++) rows.note(entry(`q${i}`));
    const kept = targets(rows);
    expect(kept).toHaveLength(Math.min(count, AUDIT_ENTRIES_MAX));
    expect([kept[0], kept.at(-1)]).toEqual([`q${count}`, oldest]);
  },
);

describe("a log that is full", () => {
  it("loses the oldest entry of the actor that has the most, whatever that one does", () => {
    const { open } = logOf(10);
    let rows = open();
    for (const target of ["a", "b", "c"]) rows.note(entry(target, "victim"));
    for (let i = 0; i < 100; i++) rows.note(entry(`x${i}`, "loud"));
    rows = open();
    for (let i = 100; i < 200; i++) rows.note(entry(`x${i}`, "loud"));
    expect(targets(rows)).toEqual(["x199", "x198", "x197", "x196", "x195", "x194", "x193", "c", "b", "a"]);
  });

  it("writes one row and deletes one for each change", () => {
    const { open, changes } = logOf(3);
    const rows = open();
    for (let i = 0; i < 3; i++) rows.note(entry(`q${i}`, `by${i}`));
    changes.length = 0;
    rows.note(entry("more", "by0"));
    expect(changes.map((text) => text.slice(0, 6))).toEqual(["INSERT", "DELETE"]);
  });

  it("counts a damaged entry for no actor", () => {
    const sql = nodeSql();
    new AuditRows(sql, () => 0, 2).note(entry("a"));
    sql.exec("UPDATE audit SET entry = 'no JSON'");
    const rows = new AuditRows(sql, () => 0, 2);
    for (const target of ["b", "c", "d"]) rows.note(entry(target));
    expect(sql.exec("SELECT id FROM audit ORDER BY id").toArray()).toEqual([{ id: 1 }, { id: 4 }]);
  });

  it("has as many entries on a page as were asked for, without those that cannot be read", () => {
    const sql = nodeSql();
    const rows = new AuditRows(sql, () => 0);
    for (const target of ["a", "b", "c", "d", "e"]) rows.note(entry(target));
    sql.exec("UPDATE audit SET entry = '7' WHERE id IN (1, 4)");
    sql.exec("UPDATE audit SET entry = '{' WHERE id = 3");
    expect(rows.read(2, null).map(({ target }) => target)).toEqual(["e", "b"]);
    expect(rows.read(2, 2)).toEqual([]);
  });

  it("keeps of every actor what a plain list of entries says, over restarts", () => {
    const step = fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom("a", "b", "c", "d", "e") },
      { weight: 1, arbitrary: fc.constant(null) },
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.array(step, { maxLength: 80 }), (max, steps) => {
        const { open } = logOf(max);
        let rows = open();
        let model: { readonly by: string; readonly target: string }[] = [];
        for (const [i, by] of steps.entries()) {
          if (by === null) {
            rows = open();
            continue;
          }
          rows.note(entry(`${i}`, by));
          model.push({ by, target: `${i}` });
          if (model.length > max) {
            const countOf = (actor: string) => model.filter((each) => each.by === actor).length;
            const most = Math.max(...model.map((each) => countOf(each.by)));
            const lost = model.find((each) => countOf(each.by) === most);
            model = model.filter((each) => each !== lost);
          }
        }
        expect(targets(rows)).toEqual(model.map(({ target }) => target).reverse());
        // Each has its fair share of its newest entries, or all that it ever had.
        const actors = new Set(steps.filter((by) => by !== null));
        for (const actor of actors) {
          const all = steps.flatMap((by, i) => (by === actor ? [`${i}`] : []));
          const share = Math.min(all.length, Math.floor(max / actors.size));
          const own = model.filter(({ by }) => by === actor).map(({ target }) => target);
          expect(own.slice(own.length - share)).toEqual(all.slice(all.length - share));
        }
      }),
    );
  });
});
