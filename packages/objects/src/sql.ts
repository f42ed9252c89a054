import type { Database, SqlRow, SqlValue } from "./database.ts";

/** Statements behind the first one would be passed over in silence. */
const ONE_STATEMENT = /^[^;]*;?\s*$/;

/** Rows that a statement gives. They are read when they are asked for, once. */
export class SqlCursor implements Iterable<SqlRow> {
  readonly #all: () => SqlRow[];
  readonly #each: () => Iterable<SqlRow>;
  readonly rowsWritten: number;
  /** Those that were given: what was looked at for them is not known here. */
  rowsRead = 0;

  constructor(rowsWritten: number, all: () => SqlRow[], each: () => Iterable<SqlRow>) {
    this.rowsWritten = rowsWritten;
    this.#all = all;
    this.#each = each;
  }

  toArray(): SqlRow[] {
    const rows = this.#all();
    this.rowsRead += rows.length;
    return rows;
  }

  /** The one row that there is. Throws if there are none or several. */
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
    for (const row of this.#each()) {
      this.rowsRead += 1;
      yield row;
    }
  }
}

const NO_ROWS = (): SqlRow[] => [];

/** `ctx.storage.sql`: the database of an object. */
export class Sql {
  readonly #database: Database;
  readonly #willWrite: () => void;

  /** @param willWrite called before a statement that may write. Throws when the object's life is over. */
  constructor(database: Database, willWrite: () => void) {
    this.#database = database;
    this.#willWrite = willWrite;
  }

  /** Size of the database in bytes. */
  get databaseSize(): number {
    const [pages] = this.#database.all("PRAGMA page_count");
    const [page] = this.#database.all("PRAGMA page_size");
    return Number(pages?.page_count) * Number(page?.page_size);
  }

  /**
   * Executes one statement. What it changes is part of the commit that is under way.
   *
   * @throws SqliteError, with SQLite's name of the failure at the end of its message.
   */
  exec(sql: string, ...bindings: readonly SqlValue[]): SqlCursor {
    const database = this.#database;
    const { hasRows } = database.prepare(sql);
    if (!ONE_STATEMENT.test(sql))
      throw new Error(`more than one statement at a time is not executed: ${sql}`);
    if (hasRows) {
      return new SqlCursor(
        0,
        () => database.all(sql, ...bindings),
        () => database.each(sql, ...bindings),
      );
    }
    this.#willWrite();
    return new SqlCursor(database.run(sql, ...bindings), NO_ROWS, NO_ROWS);
  }
}
