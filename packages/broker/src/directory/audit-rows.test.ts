import { AUDIT_ENTRIES_MAX } from "@sluice/protocol";
import { expect, it } from "vitest";
import { nodeSql } from "../../test/node-sql.ts";
import { AuditRows } from "./audit-rows.ts";

const entry = (target: string) => ({ action: "queue.purge", target, by: "ops", dialect: "admin" }) as const;

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

it("keeps the last changes alone", () => {
  const sql = nodeSql();
  const rows = new AuditRows(sql, () => 0);
  for (let i = 1; i <= AUDIT_ENTRIES_MAX + 3; i++) rows.note(entry(`q${i}`));
  const kept = rows.read(2 * AUDIT_ENTRIES_MAX, null);
  expect(kept).toHaveLength(AUDIT_ENTRIES_MAX);
  expect([kept[0]?.target, kept.at(-1)?.target]).toEqual([`q${AUDIT_ENTRIES_MAX + 3}`, "q4"]);
});
