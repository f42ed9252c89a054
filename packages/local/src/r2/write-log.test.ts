import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { LOGGED_MS, WriteLog } from "./write-log.ts";

let folder: string;
let file: string;
let log: WriteLog;
let bucket: DatabaseSync;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-log-"));
  file = join(folder, "bucket.sqlite");
  log = WriteLog.open(file);
  bucket = new DatabaseSync(file);
});
afterEach(() => {
  bucket.close();
  log.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Writes an object, as Miniflare does. */
function put(key: string): void {
  const insert = "INSERT OR REPLACE INTO _mf_objects VALUES (?, 'blob', 'v', 1, 'tag', 0, '{}', '{}', '{}')";
  bucket.prepare(insert).run(key);
}

function logged(id: number, key: string): void {
  bucket.prepare("INSERT INTO _sluice_writes VALUES (?, 'PutObject', ?, 1, 'tag')").run(id, key);
}

const keys = () => log.read(0, 100).map(({ key }) => key);

it("an object that is overwritten is one write, and no deletion", () => {
  put("a");
  put("a");
  expect(log.read(0, 100)).toMatchObject([
    { action: "PutObject", key: "a", stored: { size: 1, eTag: "tag" } },
    { action: "PutObject", key: "a" },
  ]);
});

it("is read on from a write that is known, as many as are asked for", () => {
  for (const key of ["a", "b", "c"]) put(key);
  const [first] = log.read(0, 1);
  expect(log.read(first?.id ?? 0, 1)).toMatchObject([{ key: "b" }]);
});

it("has ids that grow, also while the clock is behind the last one", () => {
  const ahead = Date.now() + 3_600_000;
  logged(ahead, "of a clock that was ahead");
  put("a");
  put("b");
  expect(log.read(ahead, 100).map(({ id }) => id)).toEqual([ahead + 1, ahead + 2]);
});

it("forgets a write after a day, when another one comes", () => {
  // The clock of the database is the machine's.
  const minute = 60_000;
  const edge = Date.now() - LOGGED_MS;
  logged(edge - minute, "older");
  logged(edge + minute, "younger");
  expect(keys()).toEqual(["older", "younger"]);
  put("now");
  expect(keys()).toEqual(["younger", "now"]);
});

it("is ended with all that it has added, and begun again", () => {
  put("a");
  WriteLog.end(file);
  WriteLog.end(file);
  const added = bucket.prepare("SELECT name FROM sqlite_master WHERE name LIKE '%sluice%'").all();
  expect(added).toEqual([]);
  put("unseen");
  const again = WriteLog.open(file);
  put("b");
  expect(again.read(0, 100).map(({ key }) => key)).toEqual(["b"]);
  again.close();
});

it("replaces triggers of another release, and keeps what they have logged", () => {
  put("a");
  bucket.exec(
    "DROP TRIGGER _sluice_delete; CREATE TRIGGER _sluice_delete AFTER DELETE ON _mf_objects BEGIN SELECT 1; END",
  );
  WriteLog.open(file).close();
  bucket.exec("DELETE FROM _mf_objects");
  expect(log.read(0, 100)).toMatchObject([{ key: "a" }, { action: "DeleteObject", key: "a", stored: null }]);
});
