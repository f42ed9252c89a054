import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openWorld, temporaryFolder } from "../../test/world.ts";
import { Database, SHRINK_FREE_BYTES_MIN, SHRINK_REST_BYTES_MAX } from "./database.ts";
import { Room } from "./room.ts";

const ROW = 10_000;

/** A database with so many bytes in it, of which some are free again, and nothing in its log. */
function withFreeRoom(restBytes: number, freeBytes: number, room = new Room()) {
  const file = join(temporaryFolder(), "a.sqlite");
  const database = new Database(file, room);
  onTestFinished(() => database.close());
  database.run("CREATE TABLE t (id INTEGER PRIMARY KEY, v)");
  const count = (restBytes + freeBytes) / ROW;
  for (let id = 1; id <= count; id++) database.run("INSERT INTO t VALUES (?, zeroblob(?))", [id, ROW]);
  database.run("DELETE FROM t WHERE id > ?", [restBytes / ROW]);
  database.all("PRAGMA wal_checkpoint(TRUNCATE)");
  return { file, database, size: () => statSync(file).size };
}

it("gives what is free in a file back to the full disk, and empties its log", () => {
  const room = new Room({ isFull: true, foundFull: () => false });
  const { file, database, size } = withFreeRoom(100_000, 1_000_000, room);
  database.run("INSERT INTO t VALUES (1000, 'kept')");
  const before = size();
  room.set(true);
  expect(size()).toBeLessThan(before - 900_000);
  expect(statSync(`${file}-wal`).size).toBe(0);
  expect(database.all("SELECT count(*) AS n, max(id) AS last FROM t")).toEqual([{ n: 11, last: 1000 }]);
  expect(database.all("PRAGMA wal_autocheckpoint")).toEqual([{ wal_autocheckpoint: 64 }]);
  room.set(false);
  expect(database.all("PRAGMA wal_autocheckpoint")).toEqual([{ wal_autocheckpoint: 1_000 }]);
});

it.each([
  ["little is free", 100_000, SHRINK_FREE_BYTES_MIN - 3 * ROW, false],
  ["enough is free", 100_000, SHRINK_FREE_BYTES_MIN + 3 * ROW, true],
  ["the rest is little enough", SHRINK_REST_BYTES_MAX - 50 * ROW, 1_000_000, true],
  ["the rest is much", SHRINK_REST_BYTES_MAX, 1_000_000, false],
])("copies the rest of a file if %s", (_, restBytes, freeBytes, isShrunk) => {
  const { database, size } = withFreeRoom(restBytes, freeBytes);
  const before = size();
  database.shrink();
  database.all("PRAGMA wal_checkpoint(TRUNCATE)");
  expect(size() < before).toBe(isShrunk);
});

it("leaves a transaction alone that is under way", () => {
  const room = new Room({ isFull: true, foundFull: () => false });
  const { database } = withFreeRoom(100_000, 1_000_000, room);
  database.run("BEGIN");
  database.run("INSERT INTO t VALUES (1000, 'written')");
  room.set(true);
  expect(database.isInTransaction).toBe(true);
  database.run("COMMIT");
  expect(database.all("SELECT id FROM t WHERE id = 1000")).toHaveLength(1);
});

it("is told of a write that finds no room, and one that is a transaction by itself is tried again", () => {
  const pages = { database: null as Database | null, found: 0 };
  const room = new Room({
    isFull: false,
    foundFull: () => {
      pages.found += 1;
      pages.database?.run("PRAGMA max_page_count = 1000000");
      return true;
    },
  });
  const { database } = withFreeRoom(0, 0, room);
  pages.database = database;
  const leaveNoRoom = () => {
    const [size] = database.all("PRAGMA page_count");
    database.run(`PRAGMA max_page_count = ${size?.page_count}`);
  };
  leaveNoRoom();
  expect(() => database.write("INSERT INTO t VALUES (1, zeroblob(100000))", [])).toThrow("SQLITE_FULL");
  expect(pages.found).toBe(1);
  leaveNoRoom();
  expect(database.runAlone("INSERT INTO t VALUES (2, zeroblob(100000))")).toBe(1);
  expect(pages.found).toBe(2);
});

it("is given back by an object that ends because it holds nothing", async () => {
  let isEmpty = false;
  const { run, fileOf, instances } = openWorld({ holdsNothing: () => isEmpty });
  await run("a", ({ storage: { sql } }) => {
    sql.exec("CREATE TABLE t (v)");
    for (let i = 0; i < 200; i++) sql.exec("INSERT INTO t VALUES (zeroblob(10000))");
  });
  isEmpty = true;
  await run("a", ({ storage: { sql } }) => void sql.exec("DELETE FROM t"));
  await expect.poll(() => existsSync(`${fileOf("a")}-wal`), { interval: 1 }).toBe(false);
  expect(statSync(fileOf("a")).size).toBeLessThan(100_000);
  isEmpty = false;
  await run("a", () => {});
  expect(instances()).toBe(2);
});
