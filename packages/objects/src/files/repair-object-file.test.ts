import fs, {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { overwriteLeaf } from "../../test/damage.ts";
import { read, temporaryFolder } from "../../test/world.ts";
import { Database } from "../sqlite/database.ts";
import { repairObjectFile } from "./repair-object-file.ts";

const ROWS = 2_000;
const TEXT = "x".repeat(40);

/** A file with a table that takes many pages, one of keys that are texts, and one of all kinds of values. */
function objectFile(): string {
  const file = join(temporaryFolder(), "a.sqlite");
  const database = new Database(file);
  database.run("BEGIN");
  database.run("CREATE TABLE numbers (id INTEGER PRIMARY KEY, text TEXT NOT NULL)");
  database.run("CREATE TABLE words (word TEXT, n INTEGER, PRIMARY KEY (word, n)) WITHOUT ROWID");
  database.run("CREATE TABLE kinds (value)");
  for (let id = 0; id < ROWS; id++) {
    database.run("INSERT INTO numbers VALUES (?, ?)", [id, TEXT]);
    database.run("INSERT INTO words VALUES (?, ?)", [`${TEXT}${String(id).padStart(5, "0")}`, id]);
  }
  for (const value of [9_007_199_254_740_993n, 1.5, "text", null, new Uint8Array([0, 255])]) {
    database.run("INSERT INTO kinds VALUES (?)", [value]);
  }
  database.run("COMMIT");
  database.close();
  return file;
}

/** A file whose last row is in its log alone, as a process leaves it that is killed. */
function fileWithLog(): string {
  const file = objectFile();
  const database = new Database(file);
  database.run("INSERT INTO numbers VALUES (?, 'in the log')", [ROWS]);
  const [bytes, log] = [readFileSync(file), readFileSync(`${file}-wal`)];
  database.close();
  writeFileSync(file, bytes);
  writeFileSync(`${file}-wal`, log);
  rmSync(`${file}-shm`, { force: true });
  return file;
}

/** Makes one of the next renames fail, and with it all that would come after it. */
function killAtRename(number: number): void {
  const { renameSync } = fs;
  let renames = 0;
  vi.spyOn(fs, "renameSync").mockImplementation((from, to) => {
    renames += 1;
    if (renames === number) throw new Error("killed");
    renameSync(from, to);
  });
  syncBuiltinESMExports();
}

const count = (file: string, table: string) => Number(read(file, `SELECT count(*) AS n FROM ${table}`)[0]?.n);

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

describe("an object's file", () => {
  it("stays as it is where it is sound, and is not made where there is none", () => {
    const file = objectFile();
    const before = readFileSync(file);
    expect(repairObjectFile(file)).toBeNull();
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(repairObjectFile(`${file}.other`)).toBeNull();
    expect(existsSync(`${file}.other`)).toBe(false);
  });

  it.each(["numbers", "words"])(
    "of which a page of %s is damaged has all other rows in its new place, from both sides of that page",
    (table) => {
      const file = objectFile();
      overwriteLeaf(file, table);
      const damaged = readFileSync(file);
      const repaired = repairObjectFile(file);
      expect(repaired?.finding).toMatch(/btreeInitPage|malformed/);
      expect(readFileSync(repaired?.aside ?? "").equals(damaged)).toBe(true);
      expect(repairObjectFile(file)).toBeNull();
      const other = table === "numbers" ? "words" : "numbers";
      expect(count(file, other)).toBe(ROWS);
      expect(count(file, table)).toBeGreaterThan(ROWS - 200);
      expect(count(file, table)).toBeLessThan(ROWS);
      const column = table === "numbers" ? "id" : "n";
      expect(read(file, `SELECT min(${column}) AS a, max(${column}) AS b FROM ${table}`)).toEqual([
        { a: 0, b: ROWS - 1 },
      ]);
      const values = new DatabaseSync(file).prepare("SELECT typeof(value) AS kind, value FROM kinds");
      values.setReadBigInts(true);
      expect(values.all()).toEqual([
        { kind: "integer", value: 9_007_199_254_740_993n },
        { kind: "real", value: 1.5 },
        { kind: "text", value: "text" },
        { kind: "null", value: null },
        { kind: "blob", value: new Uint8Array([0, 255]) },
      ]);
    },
  );

  it("that is no database any more is an empty one in its new place, and kept", () => {
    const file = objectFile();
    writeFileSync(file, Buffer.alloc(10_000, 0x55));
    const repaired = repairObjectFile(file);
    expect(repaired?.finding).toBe("file is not a database: SQLITE_NOTADB");
    expect(read(file, "SELECT name FROM sqlite_schema")).toEqual([]);
    expect(readFileSync(repaired?.aside ?? "")).toHaveLength(10_000);
  });

  it("that is cut gives what lies before the cut, also when an earlier attempt to repair it was ended", () => {
    const file = objectFile();
    truncateSync(file, 40_960);
    writeFileSync(`${file}.repaired`, "half of it");
    expect(repairObjectFile(file)).not.toBeNull();
    expect(count(file, "numbers")).toBeGreaterThan(0);
    expect(readdirSync(join(file, "..")).filter((name) => name.endsWith(".repaired"))).toEqual([]);
  });

  it("of which the text of the schema is damaged, too, gives what it can and does not fail", () => {
    const damaged = objectFile();
    overwriteLeaf(damaged, "numbers");
    const bytes = readFileSync(damaged);
    const created = "CREATE TABLE words (word TEXT, n";
    const from = bytes.indexOf(created);
    let tablesLeftOut = 0;
    for (let at = from; at < from + created.length; at++) {
      const file = join(temporaryFolder(), "a.sqlite");
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] as number) ^ 1;
      writeFileSync(file, flipped);
      expect(repairObjectFile(file)).not.toBeNull();
      expect(repairObjectFile(file)).toBeNull();
      const tables = read(file, "SELECT name FROM sqlite_schema WHERE type = 'table'").map(
        ({ name }) => name,
      );
      if (!tables.includes("numbers")) continue;
      expect(count(file, "numbers")).toBeGreaterThan(ROWS - 200);
      if (tables.length < 3) tablesLeftOut += 1;
    }
    expect(tablesLeftOut).toBeGreaterThan(0);
  });

  it("takes the place of a damaged one after all when the process was killed in between", () => {
    const file = objectFile();
    const before = readFileSync(file);
    renameSync(file, `${file}.whole`);
    expect(repairObjectFile(file)?.finding).toContain("ended");
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(repairObjectFile(file)).toBeNull();
  });

  it.each([1, 2, 3, 4, 5])("is the new one alone when the process was killed at rename %i", (killedAt) => {
    const file = fileWithLog();
    // Another program reads the file, so that SQLite leaves its log.
    const reader = new DatabaseSync(file);
    onTestFinished(() => reader.close());
    expect(reader.prepare("SELECT count(*) AS n FROM numbers").get()).toEqual({ n: ROWS + 1 });
    overwriteLeaf(file, "numbers");
    killAtRename(killedAt);
    expect(() => repairObjectFile(file)).toThrow("killed");
    vi.restoreAllMocks();
    syncBuiltinESMExports();
    expect(repairObjectFile(file)).not.toBeNull();
    for (const part of ["-wal", "-shm"]) expect(existsSync(file + part)).toBe(false);
    expect(repairObjectFile(file)).toBeNull();
    expect(count(file, "words")).toBe(ROWS);
    expect(read(file, `SELECT text FROM numbers WHERE id = ${ROWS}`)).toEqual([{ text: "in the log" }]);
    const aside = readdirSync(join(file, "..")).filter((name) => name.includes(".damaged-"));
    expect(aside.map((name) => name.replace(/.*\d/, "")).sort()).toEqual(["", "-shm", "-wal"]);
  });

  it("gives what its log has as well", () => {
    const file = fileWithLog();
    overwriteLeaf(file, "numbers");
    expect(repairObjectFile(file)).not.toBeNull();
    expect(read(file, `SELECT text FROM numbers WHERE id = ${ROWS}`)).toEqual([{ text: "in the log" }]);
  });
});
