import type { Unreadable } from "@sluice/protocol/schema";
import { checksumOfText } from "../../store/checksum.ts";

type Stored = { key: string | number; row: string; checksum: number };

/** Table of JSON under keys. Rows that are damaged or cannot be read are left out, and logged. */
export class JsonRows<Row extends object> {
  readonly #sql: SqlStorage;
  readonly #table: string;
  readonly #key: string;
  readonly #what: string;
  readonly #unreadable: Unreadable;
  readonly #consequence: string;

  /**
   * A contract, since stored data depends on the names of tables and keys.
   *
   * @param key column of the key, and its type: `name TEXT`.
   * @param what name of a row in the log, before its key.
   * @param unreadable finds why a row cannot be read.
   * @param consequence of damage, for the log.
   */
  constructor(
    sql: SqlStorage,
    table: string,
    key: string,
    what: string,
    unreadable: Unreadable,
    consequence = ", and is left out",
  ) {
    this.#sql = sql;
    this.#table = table;
    this.#key = key.slice(0, key.indexOf(" "));
    this.#what = what;
    this.#unreadable = unreadable;
    this.#consequence = consequence;
    sql.exec(
      `CREATE TABLE IF NOT EXISTS ${table} (${key} PRIMARY KEY, row TEXT NOT NULL, checksum INTEGER NOT NULL) ` +
        "WITHOUT ROWID",
    );
  }

  /** Lists all rows in order of their keys. */
  all(): Row[] {
    return this.#read(`ORDER BY ${this.#key}`);
  }

  get(key: string | number): Row | null {
    return this.#read(`WHERE ${this.#key} = ?`, key)[0] ?? null;
  }

  /** Lists all keys, those of damaged rows too. */
  keys(): (string | number)[] {
    const rows = this.#sql.exec<{ key: string | number }>(`SELECT ${this.#key} AS key FROM ${this.#table}`);
    return rows.toArray().map(({ key }) => key);
  }

  put(key: string | number, row: Row): void {
    const text = JSON.stringify(row);
    this.#sql.exec(
      `INSERT OR REPLACE INTO ${this.#table} VALUES (?, ?, ?)`,
      ...[key, text, checksumOfText(text)],
    );
  }

  delete(key: string | number): void {
    this.#sql.exec(`DELETE FROM ${this.#table} WHERE ${this.#key} = ?`, key);
  }

  #read(which: string, ...bindings: (string | number)[]): Row[] {
    const query = `SELECT ${this.#key} AS key, row, checksum FROM ${this.#table} ${which}`;
    const rows = this.#sql.exec<Stored>(query, ...bindings).toArray();
    return rows.flatMap(({ key, row, checksum }) => {
      const stored = `the stored row of ${this.#what} "${key}"`;
      if (checksum !== checksumOfText(row)) {
        console.error(`Directory: ${stored} is damaged${this.#consequence}`);
        return [];
      }
      const found = readRow<Row>(row, this.#unreadable);
      if (found.kind === "row") return [found.row];
      console.error(`Directory: ${stored} cannot be read (${found.reason})${this.#consequence}`);
      return [];
    });
  }
}

/** Reads the JSON of a row. */
export function readRow<Row>(
  text: string,
  unreadable: Unreadable,
): { readonly kind: "row"; readonly row: Row } | { readonly kind: "unreadable"; readonly reason: string } {
  let row: unknown;
  try {
    row = JSON.parse(text);
  } catch {
    return { kind: "unreadable", reason: "it is no JSON" };
  }
  const reason = unreadable(row);
  return reason === null ? { kind: "row", row: row as Row } : { kind: "unreadable", reason };
}
