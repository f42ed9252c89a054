import { existsSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { Database } from "../sqlite/database.ts";
import { databaseName } from "../sqlite/database-name.ts";
import { sqliteErrorOf } from "../sqlite/sqlite-error.ts";
import { findingIn, isDamage, putAside } from "./database-files.ts";
import { syncFolder } from "./folders.ts";

/** Report of a damaged file that was replaced. */
export interface Repaired {
  /** Damage that was found, in SQLite's words. */
  readonly finding: string;
  /** Path of the damaged file now. */
  readonly aside: string;
}

/**
 * Replaces an object's damaged database by a new one with all rows that can be read. Reads the whole file, so it is for
 * objects with little data. The object must not be running.
 *
 * @returns `null` where the file is sound or does not exist.
 * @throws SqliteError where it cannot be read or written for another reason than damage.
 */
export function repairObjectFile(file: string): Repaired | null {
  // A process that was killed during a repair has left the damaged file, or the new one under the name `whole`.
  const whole = `${file}.whole`;
  if (!existsSync(file)) {
    if (!existsSync(whole)) return null;
    // SQLite would apply a log that is left of the damaged file to the new one.
    putAside(file);
    renameSync(whole, file);
    return { finding: "a process was ended while it repaired it", aside: `${file}.damaged-*` };
  }
  const finding = findingIn(file);
  if (finding === null) return null;
  const repaired = `${file}.repaired`;
  rmSync(repaired, { force: true });
  copyReadable(file, repaired);
  // Each rename is synced before the next (`putAside`). The last one may be lost: the next start repeats it.
  renameSync(repaired, whole);
  syncFolder(dirname(file));
  const aside = putAside(file);
  renameSync(whole, file);
  return { finding, aside };
}

function copyReadable(from: string, to: string): void {
  const target = new Database(to);
  try {
    const source = new DatabaseSync(databaseName(from), { defensive: false });
    try {
      // Otherwise a truncated file is not read at all. Newer releases of Node.js need `defensive: false` for this.
      source.exec("PRAGMA writable_schema = ON");
      target.run("BEGIN");
      for (const table of tablesOf(source)) copyTable(source, target, table);
      target.run("COMMIT");
    } finally {
      source.close();
    }
  } finally {
    target.close();
  }
}

interface Table {
  readonly name: string;
  /** Its `CREATE TABLE` statement. */
  readonly sql: string;
}

/** Matches the name of a table. Any other name is damaged. */
const TABLE_NAME = /^\w+$/;

function tablesOf(source: DatabaseSync): Table[] {
  const query = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
  return [...readable(source, query)]
    .map(({ name, sql }) => ({ name: String(name), sql: String(sql) }))
    .filter(({ name }) => TABLE_NAME.test(name));
}

/**
 * Copies the rows of a table that can be read. A table whose schema itself is damaged is left out: its object makes it
 * anew.
 */
function copyTable(source: DatabaseSync, target: Database, table: Table): void {
  try {
    copyRows(source, target, table);
  } catch (error) {
    if (!/SQLITE_ERROR/.test(String(error))) throw error;
    target.run(`DROP TABLE IF EXISTS ${table.name}`);
  }
}

/** Copies rows from the first one up, as far as they can be read, and then from the last one down. */
function copyRows(source: DatabaseSync, target: Database, { name, sql }: Table): void {
  target.run(sql);
  const columns = [...readable(source, `SELECT name, pk FROM pragma_table_info('${name}')`)];
  const names = columns.map((column) => `"${column.name}"`);
  const ofKey = columns.filter(({ pk }) => pk !== 0n).map((column) => `"${column.name}"`);
  const key = ofKey.length > 0 ? ofKey : ["rowid"];
  // With the key, so that a row that is read from both sides is inserted once.
  const copied = (ofKey.length > 0 ? names : [...key, ...names]).join(", ");
  for (const order of ["ASC", "DESC"]) {
    const by = key.map((column) => `${column} ${order}`).join(", ");
    for (const row of readable(source, `SELECT ${copied} FROM ${name} ORDER BY ${by}`)) {
      const values = Object.values(row);
      target.run(
        `INSERT OR IGNORE INTO ${name} (${copied}) VALUES (${values.map(() => "?").join(", ")})`,
        values,
      );
    }
  }
}

/** Reads rows until one is damaged. Integers are read as `bigint`, so that they lose no digits. */
function* readable(source: DatabaseSync, query: string): Generator<Record<string, StoredValue>> {
  try {
    const statement = source.prepare(query);
    statement.setReadBigInts(true);
    for (const row of statement.iterate()) yield row as Record<string, StoredValue>;
  } catch (error) {
    const reason = sqliteErrorOf(error);
    if (!isDamage(reason)) throw reason;
  }
}

type StoredValue = Exclude<SQLInputValue, NodeJS.ArrayBufferView> | Uint8Array;
