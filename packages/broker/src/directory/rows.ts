import { checksumOfText } from "../store/checksum.ts";
import { type DirectoryRow, nameOf } from "./row.ts";

/** A contract: these tables are stored. */
const SCHEMA = [
  "CREATE TABLE IF NOT EXISTS queues " +
    "(name TEXT PRIMARY KEY, row TEXT NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID",
  "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
];

/** The rows of the directory in its object's database. */
export class DirectoryRows {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    for (const statement of SCHEMA) sql.exec(statement);
  }

  /** Damaged rows are left out: the configuration, or the queue's own copy, brings them back. */
  *read(): Iterable<DirectoryRow> {
    const rows = this.#sql.exec<{ name: string; row: string; checksum: number }>(
      "SELECT name, row, checksum FROM queues",
    );
    for (const { name, row, checksum } of rows) {
      if (checksum === checksumOfText(row)) yield JSON.parse(row) as DirectoryRow;
      else console.error(`Directory: what was stored of queue "${name}" is damaged and left out`);
    }
  }

  save(row: DirectoryRow): void {
    const text = JSON.stringify(row);
    this.#sql.exec(
      "INSERT OR REPLACE INTO queues VALUES (?, ?, ?)",
      ...[nameOf(row), text, checksumOfText(text)],
    );
  }

  erase(name: string): void {
    this.#sql.exec("DELETE FROM queues WHERE name = ?", name);
  }

  /** Fingerprint of the topology that was applied last, `null` before the first one. */
  get deployed(): string | null {
    const [row] = this.#sql
      .exec<{ value: string }>("SELECT value FROM meta WHERE key = 'deployed'")
      .toArray();
    return row?.value ?? null;
  }

  set deployed(fingerprint: string) {
    this.#sql.exec("INSERT OR REPLACE INTO meta VALUES ('deployed', ?)", fingerprint);
  }
}
