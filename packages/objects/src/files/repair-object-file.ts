import { existsSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { Database } from "../sqlite/database.ts";
import { findingIn, isDamage, putAside } from "../sqlite/database-files.ts";
import { databaseName } from "../sqlite/database-name.ts";
import { sqliteErrorOf } from "../sqlite/sqlite-error.ts";
import { syncFolder } from "./folders.ts";

/** A damaged file in whose place there is a whole one. */
export interface Repaired {
  /** Damage that was found in it, in SQLite's words. */
  readonly finding: string;
  /** Where it is now. */
  readonly aside: string;
}

/**
 * Puts a new database in the place of an object's damaged one, with every row that can be read of it. Reads all of the
 * file: for objects whose data are small, while nobody runs them.
 *
 * @returns `null` where the file is sound, or is not there.
 * @throws SqliteError where it cannot be read or written for another reason than damage.
 */
export function repairObjectFile(file: string): Repaired | null {
  // A process that was killed while it repaired left the file itself, or a whole one that has not taken its place yet.
  const whole = `${file}.whole`;
  if (!existsSync(file)) {
    if (!existsSync(whole)) return null;
    renameSync(whole, file);
    return { finding: "a process was ended while it repaired it", aside: `${file}.damaged-*` };
  }
  const finding = findingIn(file);
  if (finding === null) return null;
  const repaired = `${file}.repaired`;
  rmSync(repaired, { force: true });
  copyReadable(file, repaired);
  // A power cut keeps and loses names in any order, so each step is synced before the next one. The last one may be
  // lost: the next start makes it again.
  renameSync(repaired, whole);
  syncFolder(dirname(file));
  const aside = putAside(file);
  syncFolder(dirname(file));
  renameSync(whole, file);
  return { finding, aside };
}

function copyReadable(from: string, to: string): void {
  const target = new Database(to);
  try {
    const source = new DatabaseSync(databaseName(from), { defensive: false });
    try {
      // Else a file that was cut is not read at all. Newer releases of Node.js heed it only for who is not defensive.
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
  /** How it was created. */
  readonly sql: string;
}

/** Pattern of tables' names: a table that is named otherwise is damaged. */
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

/** Rows from the first one up, as far as they can be read, and then from the last one down. */
function copyRows(source: DatabaseSync, target: Database, { name, sql }: Table): void {
  target.run(sql);
  const columns = [...readable(source, `SELECT name, pk FROM pragma_table_info('${name}')`)];
  const names = columns.map((column) => `"${column.name}"`);
  const ofKey = columns.filter(({ pk }) => pk !== 0n).map((column) => `"${column.name}"`);
  const key = ofKey.length > 0 ? ofKey : ["rowid"];
  // A row that is met from both sides is one row.
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

/** Rows until damage is met: as SQLite has them, without a number that loses digits. */
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
