import { DatabaseSync, type StatementSync } from "node:sqlite";
import { LifeEndedError } from "./life-ended.ts";
import { SqliteError, sqliteErrorOf } from "./sqlite-error.ts";
import { isBlank, type StatementText, statementText } from "./statement.ts";

/** How long a lock is waited for that another program has on the file, to look at it, in ms. */
const BUSY_MS = 5_000;
/** Most statements of a database that stay prepared. A queue has some sixty. */
export const STATEMENTS_KEPT_MAX = 200;

/** What a statement takes and gives. */
export type SqlValue = string | number | bigint | null | ArrayBuffer | ArrayBufferView;
export type SqlRow = Record<string, string | number | null | ArrayBuffer>;

/** A statement that is prepared. */
export interface Prepared extends StatementText {
  readonly statement: StatementSync;
}

/** What a statement that writes has done. */
export interface Written {
  /** Rows of tables that it changed. */
  readonly changes: number;
  /** What it was told to return of them. */
  readonly rows: SqlRow[];
}

const NO_VALUES: readonly SqlValue[] = [];
const NO_ROWS: SqlRow[] = [];

/** A database file as workerd keeps those of Durable Objects: a log of pages beside it, synced at every commit. */
export class Database {
  readonly #db: DatabaseSync;
  readonly #prepared = new Map<string, Prepared>();

  /** @param file is made if it is not there. Throws `SqliteError` for one that is no database. */
  constructor(file: string) {
    try {
      this.#db = new DatabaseSync(file, { timeout: BUSY_MS });
    } catch (error) {
      throw named(sqliteErrorOf(error), file);
    }
    try {
      this.run("PRAGMA journal_mode = WAL");
      this.run("PRAGMA synchronous = FULL");
    } catch (error) {
      this.#db.close();
      throw named(error, file);
    }
  }

  /** Whether a transaction is under way. SQLite itself ends one when there is no room, for instance. */
  get isInTransaction(): boolean {
    return this.#db.isOpen && this.#db.isTransaction;
  }

  /** A statement, prepared once. Throws `SqliteError`, and an `Error` for several statements in one text. */
  prepare(sql: string): Prepared {
    let prepared = this.#prepared.get(sql);
    if (prepared === undefined) {
      prepared = this.#prepareAnew(sql);
      this.#prepared.set(sql, prepared);
      if (this.#prepared.size > STATEMENTS_KEPT_MAX) {
        const [oldest] = this.#prepared.keys();
        if (oldest !== undefined) this.#prepared.delete(oldest);
      }
    }
    return prepared;
  }

  /** Executes a statement that has no rows to give; the rows that it changed. */
  run(sql: string, values: readonly SqlValue[] = NO_VALUES): number {
    try {
      return Number(this.prepare(sql).statement.run(...bound(values)).changes);
    } catch (error) {
      throw this.#errorOf(error);
    }
  }

  /** Executes a statement that writes. */
  write(sql: string, values: readonly SqlValue[]): Written {
    const { statement, changesRows } = this.prepare(sql);
    try {
      if (statement.columns().length > 0) {
        // Rows that could not be given for their numbers would be changed all the same.
        const rows = this.#withBigInts(sql).all(...bound(values));
        return { changes: rows.length, rows: rows.map(rowOf) };
      }
      const { changes } = statement.run(...bound(values));
      return { changes: changesRows ? Number(changes) : 0, rows: NO_ROWS };
    } catch (error) {
      throw this.#errorOf(error);
    }
  }

  /** All rows of a statement that reads. */
  all(sql: string, values: readonly SqlValue[] = NO_VALUES): SqlRow[] {
    try {
      return this.prepare(sql)
        .statement.all(...bound(values))
        .map(rowOf);
    } catch (error) {
      // An integer that a number does not hold: it is given as the nearest one, as the platform does.
      if (error instanceof Error && "code" in error && error.code === "ERR_OUT_OF_RANGE")
        return [...this.each(sql, values)];
      throw this.#errorOf(error);
    }
  }

  /** The same row by row: what was read before a damaged page was met has been read. */
  *each(sql: string, values: readonly SqlValue[] = NO_VALUES): Generator<SqlRow> {
    let rows: NodeJS.Iterator<Record<string, unknown>> | undefined;
    try {
      // One of its own: others of the same text may be read at the same time.
      rows = this.#withBigInts(sql).iterate(...bound(values));
      while (true) {
        const next = rows.next();
        if (next.done === true) return;
        yield rowOf(next.value);
      }
    } catch (error) {
      throw this.#errorOf(error);
    } finally {
      // A statement that is not at its end keeps the log of pages from being emptied.
      if (this.#db.isOpen) rows?.return?.();
    }
  }

  /** Puts the log into the file. Whoever uses the database then gets `LifeEndedError`. */
  close(): void {
    this.#prepared.clear();
    try {
      this.#db.close();
    } catch (error) {
      throw sqliteErrorOf(error);
    }
  }

  #withBigInts(sql: string): StatementSync {
    const { statement } = this.#prepareAnew(sql);
    statement.setReadBigInts(true);
    return statement;
  }

  #prepareAnew(sql: string): Prepared {
    try {
      const statement = this.#db.prepare(sql);
      // SQLite prepares the first one only, and would pass over the others in silence.
      const others = sql.slice(statement.sourceSQL.length);
      if (!isBlank(others))
        throw new Error(`one statement at a time is executed, and behind it is: ${others}`);
      return { statement, ...statementText(sql, statement.columns().length > 0) };
    } catch (error) {
      throw this.#errorOf(error);
    }
  }

  #errorOf(error: unknown): unknown {
    if (error instanceof LifeEndedError || this.#db.isOpen) return sqliteErrorOf(error);
    return new LifeEndedError("the object's life is over, and so is its use of the database", {
      cause: error,
    });
  }
}

/** Which file it is that cannot be opened, nobody else says. */
function named(error: unknown, file: string): unknown {
  return error instanceof SqliteError
    ? new SqliteError(`${file}: ${error.message}`, { cause: error })
    : error;
}

type Bound = string | number | bigint | null | NodeJS.ArrayBufferView;

function bound(values: readonly SqlValue[]): readonly Bound[] {
  for (const value of values) if (value instanceof ArrayBuffer) return values.map(viewed);
  return values as readonly Bound[];
}

function viewed(value: SqlValue): Bound {
  return value instanceof ArrayBuffer ? new Uint8Array(value) : (value as Bound);
}

/** Bytes are given as an `ArrayBuffer`, as the platform gives them (they have one to themselves), and integers as numbers. */
function rowOf(row: Record<string, unknown>): SqlRow {
  for (const column in row) {
    const value = row[column];
    if (value instanceof Uint8Array) row[column] = value.buffer;
    else if (typeof value === "bigint") row[column] = Number(value);
  }
  return row as SqlRow;
}
