import { checksumOfText } from "../store/checksum.ts";

type Stored = { key: string | number; row: string; checksum: number };

/** A table of JSON under keys. Damaged rows are left out, and the log says so. */
export class JsonRows<Row extends object> {
  readonly #sql: SqlStorage;
  readonly #table: string;
  readonly #key: string;
  readonly #what: string;
  readonly #consequence: string;

  /**
   * A contract: names of tables and keys are stored.
   *
   * @param key the column of the key, and its type: `name TEXT`.
   * @param what a row is called in the log, which then names its key.
   * @param consequence of damage, for the log.
   */
  constructor(sql: SqlStorage, table: string, key: string, what: string, consequence = " and left out") {
    this.#sql = sql;
    this.#table = table;
    this.#key = key.slice(0, key.indexOf(" "));
    this.#what = what;
    this.#consequence = consequence;
    sql.exec(
      `CREATE TABLE IF NOT EXISTS ${table} (${key} PRIMARY KEY, row TEXT NOT NULL, checksum INTEGER NOT NULL) ` +
        "WITHOUT ROWID",
    );
  }

  /** In order of keys. */
  all(): Row[] {
    return this.#read(`ORDER BY ${this.#key}`);
  }

  get(key: string | number): Row | null {
    return this.#read(`WHERE ${this.#key} = ?`, key)[0] ?? null;
  }

  /** Those of damaged rows too. */
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
      if (checksum === checksumOfText(row)) return [JSON.parse(row) as Row];
      console.error(`Directory: what was stored of ${this.#what} "${key}" is damaged${this.#consequence}`);
      return [];
    });
  }
}
