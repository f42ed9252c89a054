import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { overwriteLeaf } from "../../test/damage.ts";
import { openWorld, temporaryFolder } from "../../test/world.ts";
import { InstanceEndedError } from "../instance-ended.ts";
import { Database, STATEMENTS_KEPT_MAX } from "./database.ts";

function database(): Database {
  return new Database(join(temporaryFolder(), "a.sqlite"));
}

describe("an object's database", () => {
  it("gives bytes as an ArrayBuffer to themselves, and integers as numbers, the nearest if they are too large", () => {
    const db = database();
    const sql = "SELECT x'0102' AS b, x'' AS e, 9007199254740993 AS big, -7 AS n, NULL AS x, ? AS v, ? AS a";
    const values = [Buffer.from("pq"), new Uint8Array([5, 6]).buffer];
    const rows = db.all(sql, values);
    expect([...db.each(sql, values)]).toEqual(rows);
    const [row] = rows;
    expect(row).toMatchObject({ big: 9007199254740992, n: -7, x: null });
    for (const [column, bytes] of Object.entries({ b: [1, 2], e: [], v: [112, 113], a: [5, 6] })) {
      expect(row?.[column]).toBeInstanceOf(ArrayBuffer);
      expect([...new Uint8Array(row?.[column] as ArrayBuffer)]).toEqual(bytes);
    }
    db.close();
  });

  it("keeps so many statements prepared, and no more", () => {
    const db = database();
    const first = db.prepare("SELECT 0");
    for (let i = 1; i < STATEMENTS_KEPT_MAX; i++) db.prepare(`SELECT ${i}`);
    expect(db.prepare("SELECT 0")).toBe(first);
    db.prepare("SELECT 'one more'");
    expect(db.prepare("SELECT 0")).not.toBe(first);
    db.close();
  });

  it("gives what lies before a damaged page, row by row, and says then that it is damaged", () => {
    const file = join(temporaryFolder(), "a.sqlite");
    const before = new Database(file);
    before.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v)");
    for (let i = 0; i < 100; i++) before.run("INSERT INTO t VALUES (?, zeroblob(1000))", [i]);
    before.close();
    overwriteLeaf(file, "t");
    const db = new Database(file);
    const read: unknown[] = [];
    expect(() => {
      for (const { id } of db.each("SELECT id FROM t NOT INDEXED WHERE v IS NOT NULL ORDER BY id"))
        read.push(id);
    }).toThrow(/SQLITE_CORRUPT/);
    expect(read.length).toBeGreaterThan(0);
    expect(read.length).toBeLessThan(100);
    expect(read).toEqual(read.map((_, i) => i));
    db.close();
  });

  it("lets the log be emptied though rows were not read to their end", () => {
    const db = database();
    db.run("CREATE TABLE t (id INTEGER PRIMARY KEY)");
    for (let i = 0; i < 10; i++) db.run("INSERT INTO t VALUES (?)", [i]);
    for (const { id } of db.each("SELECT id FROM t ORDER BY id")) if (id === 2) break;
    expect(db.all("PRAGMA wal_checkpoint(TRUNCATE)")).toEqual([{ busy: 0, log: 0, checkpointed: 0 }]);
    db.close();
  });

  it("says to whoever goes on with it after its end that the instance has ended", () => {
    const db = database();
    db.run("CREATE TABLE t (id)");
    for (let i = 0; i < 3; i++) db.run("INSERT INTO t VALUES (?)", [i]);
    const rows = db.each("SELECT id FROM t");
    rows.next();
    db.close();
    expect(() => rows.next()).toThrow(InstanceEndedError);
    expect(() => db.all("SELECT id FROM t")).toThrow(InstanceEndedError);
    expect(() => db.run("DELETE FROM t")).toThrow(InstanceEndedError);
    expect(db.isInTransaction).toBe(false);
  });
});

describe("exec", () => {
  it("refuses several statements in one text, and more or fewer values than a statement takes", async () => {
    const { run } = openWorld();
    await run("a", ({ storage: { sql } }) => {
      sql.exec("CREATE TABLE t (v)");
      expect(() => sql.exec("DELETE FROM t; DELETE FROM t")).toThrow("one statement at a time is executed");
      expect(() => sql.exec("INSERT INTO t VALUES (?)")).toThrow("Wrong number of parameter bindings");
      expect(() => sql.exec("INSERT INTO t VALUES (?)", 1, 2)).toThrow("Wrong number of parameter bindings");
      sql.exec("INSERT INTO t VALUES (';') -- done; really\n;");
      expect(sql.exec("SELECT v FROM t").toArray()).toEqual([{ v: ";" }]);
    });
  });

  it("gives rows once, and one() only the one that there is", async () => {
    const { run } = openWorld();
    await run("a", ({ storage: { sql } }) => {
      const cursor = sql.exec("SELECT 1 AS a UNION SELECT 2");
      for (const { a } of cursor) if (a === 1) break;
      expect(cursor.toArray()).toEqual([]);
      expect(cursor.rowsRead).toBe(1);
      expect(sql.exec("SELECT 1 AS a").one()).toEqual({ a: 1 });
      expect(() => sql.exec("SELECT 1 AS a WHERE 0").one()).toThrow("got no results");
      expect(() => sql.exec("SELECT 1 UNION SELECT 2").one()).toThrow("got multiple results");
    });
  });

  it("counts the rows that a statement changed, and none for one that changes no rows", async () => {
    const { run } = openWorld();
    await run("a", ({ storage: { sql } }) => {
      const written = (text: string) => sql.exec(text).rowsWritten;
      expect(written("CREATE TABLE t (id INTEGER PRIMARY KEY, v)")).toBe(0);
      expect(written("INSERT INTO t VALUES (1, 'a'), (2, 'b')")).toBe(2);
      expect(written("CREATE INDEX tv ON t (v)")).toBe(0);
      expect(written("SELECT * FROM t")).toBe(0);
      expect(written("DELETE FROM t WHERE id = 9")).toBe(0);
      const returning = sql.exec("DELETE FROM t RETURNING id");
      expect(returning.rowsWritten).toBe(2);
      expect(returning.toArray()).toEqual([{ id: 1 }, { id: 2 }]);
      expect(sql.exec("SELECT * FROM t").toArray()).toEqual([]);
    });
  });

  it("tells the size of the database, with what is not committed", async () => {
    const { run } = openWorld();
    await run("a", ({ storage: { sql } }) => {
      sql.exec("CREATE TABLE t (v)");
      const before = sql.databaseSize;
      sql.exec("INSERT INTO t VALUES (zeroblob(100000))");
      expect(sql.databaseSize - before).toBeGreaterThan(90_000);
    });
  });
});
