import type { Database, SqlRow, SqlValue, Written } from "./database.ts";

/** Rows of a statement. The rows of a statement that only reads are read lazily, and only once. */
export class SqlCursor implements Iterable<SqlRow> {
  /** `null` once the rows were read. */
  #source: RowSource | null;
  /** Number of table rows that the statement changed. The platform's number includes rows of indexes. */
  readonly rowsWritten: number;
  /** Number of returned rows. The platform's number includes all rows that were scanned for them. */
  rowsRead = 0;

  constructor(source: RowSource, rowsWritten: number) {
    this.#source = source;
    this.rowsWritten = rowsWritten;
  }

  /** Returns the rows that were not read yet. @throws SqliteError */
  toArray(): SqlRow[] {
    const rows = this.#take()?.all() ?? [];
    this.rowsRead += rows.length;
    return rows;
  }

  /** Returns the only row. @throws Error if there is none, or more than one. */
  one(): SqlRow {
    const [row, ...others] = this.toArray();
    if (row === undefined || others.length > 0) {
      throw new Error(
        `Expected exactly one result from SQL query, but got ${row === undefined ? "no" : "multiple"} results.`,
      );
    }
    return row;
  }

  *[Symbol.iterator](): Generator<SqlRow> {
    for (const row of this.#take()?.each() ?? []) {
      this.rowsRead += 1;
      yield row;
    }
  }

  #take(): RowSource | null {
    const source = this.#source;
    this.#source = null;
    return source;
  }
}

interface RowSource {
  all(): SqlRow[];
  each(): Iterable<SqlRow>;
}

const NOTHING: RowSource = { all: () => [], each: () => [] };

/** `ctx.storage.sql`: the database of an object. */
export class Sql {
  readonly #database: Database;
  readonly #write: (sql: string, values: readonly SqlValue[]) => Written;

  /** @param write executes a statement that writes, as part of the next commit. */
  constructor(database: Database, write: (sql: string, values: readonly SqlValue[]) => Written) {
    this.#database = database;
    this.#write = write;
  }

  /** Size of the database in bytes. */
  get databaseSize(): number {
    const [pages] = this.#database.all("PRAGMA page_count");
    const [page] = this.#database.all("PRAGMA page_size");
    return Number(pages?.page_count) * Number(page?.page_size);
  }

  /**
   * Executes one statement. Its changes are part of the next commit.
   *
   * @throws SqliteError, with SQLite's name of the failure at the end of its message; `Error` for several statements,
   *   or more or fewer values than it takes; `InstanceEndedError` in an instance that has ended.
   */
  exec(sql: string, ...values: readonly SqlValue[]): SqlCursor {
    const database = this.#database;
    const { effect, parameters } = database.prepare(sql);
    if (parameters !== null && parameters !== values.length) {
      throw new Error("Wrong number of parameter bindings for SQL query.");
    }
    if (effect === "reads") {
      return new SqlCursor(
        { all: () => database.all(sql, values), each: () => database.each(sql, values) },
        0,
      );
    }
    const { changes, rows } = this.#write(sql, values);
    return new SqlCursor(rows.length === 0 ? NOTHING : { all: () => rows, each: () => rows }, changes);
  }
}
