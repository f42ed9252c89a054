import { beforeEach, describe, expect, it, vi } from "vitest";
import { nodeSql } from "../../test/node-sql.ts";
import { newId } from "../platform/new-id.ts";
import { recordCopy } from "../store/record-copy.ts";
import { UNSET_DEFINITION } from "./queues.ts";
import { isLost, readCopy, readKnown, takeBack } from "./recovery.ts";
import { DirectoryRows } from "./tables/rows.ts";

let sql: SqlStorage;

beforeEach(() => {
  sql = nodeSql();
});

function record(name: string, revision: number) {
  return {
    queueId: newId(),
    name,
    createdOnMs: 1,
    modifiedOnMs: 2,
    revision,
    emptyAsOf: 0,
    definition: UNSET_DEFINITION,
    consumer: null,
    jurisdiction: null,
    dialects: {},
  };
}

describe("a directory that does not run", () => {
  it("has never been started where nothing is stored", () => {
    expect(readKnown(sql)).toEqual({ hasStarted: false, rows: new Map() });
    new DirectoryRows(sql).deployed = "fingerprint";
    expect(readKnown(sql).hasStarted).toBe(true);
  });

  it("has lost the queues that it knows nothing of, or an earlier deletion only", () => {
    new DirectoryRows(sql).save({ kind: "deleted", name: "deleted", revision: 7 });
    const known = readKnown(sql);
    const isLostAt = (name: string, revision: number) => isLost(known, record(name, revision));
    expect(isLostAt("never heard of", 1)).toBe(true);
    expect([6, 7, 8].map((revision) => isLostAt("deleted", revision))).toEqual([false, false, true]);
  });

  it("has lost a change of a queue that it knows, and does not take another of that name for it", () => {
    const there = record("there", 5);
    new DirectoryRows(sql).save({ kind: "queue", record: there, configured: null, told: 5 });
    const known = readKnown(sql);
    expect([4, 5, 6].map((revision) => isLost(known, { ...there, revision }))).toEqual([false, false, true]);
    expect(isLost(known, record("there", 6))).toBe(false);
  });

  it("takes them back as notified, in the place of a deletion and of a damaged row", () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {});
    const rows = new DirectoryRows(sql);
    rows.save({ kind: "deleted", name: "again", revision: 7 });
    rows.save({ kind: "queue", record: record("damaged", 3), configured: null, told: 3 });
    sql.exec("UPDATE queues SET checksum = checksum + 1 WHERE name = 'damaged'");
    expect([...readKnown(sql).rows.keys()]).toEqual(["again"]);
    const copies = [record("again", 8), record("damaged", 3), record("new", 2)];
    takeBack(sql, readKnown(sql), copies);
    log.mockRestore();
    expect([...rows.all()]).toEqual(
      copies.map((copy) => ({ kind: "queue", record: copy, configured: null, told: copy.revision })),
    );
  });
});

it("the copy that a queue has of what it is is none where nothing was stored or the queue is gone, and cannot be read where it is damaged", () => {
  expect(readCopy(sql)).toBeNull();
  sql.exec("CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID");
  sql.exec("INSERT INTO meta VALUES ('name', 'orders')");
  expect(readCopy(sql)).toBeNull();
  const copy = record("orders", 3);
  sql.exec("INSERT INTO meta VALUES ('record', ?)", recordCopy(copy));
  expect(readCopy(sql)).toEqual(copy);
  sql.exec("UPDATE meta SET value = replace(value, 'orders', 'ordets') WHERE key = 'record'");
  expect(() => readCopy(sql)).toThrow("checksum");
});
