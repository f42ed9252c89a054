import { closeSync, existsSync, openSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { InstanceEndedError } from "../instance-ended.ts";
import { databaseName } from "./database-name.ts";
import { Room } from "./room.ts";
import { SqliteError, sqliteErrorOf } from "./sqlite-error.ts";
import { isBlank, type StatementText, statementText } from "./statement.ts";

/** How long to wait for a lock that another program has on the file, as to read it, in ms. */
const BUSY_MS = 5_000;
const FILE_MODE = 0o600;

/** Most statements of a database that stay prepared. A queue has some sixty. */
export const STATEMENTS_KEPT_MAX = 200;

/** Pages of the write-ahead log at which it is copied into the file: SQLite's default, and on a full disk (0.3 MB). */
const LOG_PAGES = 1_000;
const LOG_PAGES_SPARING = 64;
/** Least free bytes in a file for which it is shrunk. */
export const SHRINK_FREE_BYTES_MIN = 500_000;
/** Most used bytes in a file for which it is shrunk: they are copied through the log, which takes space and 10 ms. */
export const SHRINK_REST_BYTES_MAX = 2_000_000;

/** Value of a parameter of a statement. */
export type SqlValue = string | number | bigint | null | ArrayBuffer | ArrayBufferView;
/** Row that a statement returns. */
export type SqlRow = Record<string, string | number | null | ArrayBuffer>;

/** A prepared statement. */
export interface Prepared extends StatementText {
  readonly statement: StatementSync;
}

/** Result of a statement that writes. */
export interface Written {
  /** Number of table rows that it changed. */
  readonly changes: number;
  /** Rows of its `RETURNING` clause. */
  readonly rows: SqlRow[];
}

const NO_VALUES: readonly SqlValue[] = [];
const NO_ROWS: SqlRow[] = [];

/** Name of a database in memory. */
export const IN_MEMORY = ":memory:";

/** A database file with the settings of workerd's Durable Objects: with a write-ahead log, synced at every commit. */
export class Database {
  readonly #db: DatabaseSync;
  readonly #room: Room;
  readonly #prepared = new Map<string, Prepared>();

  /** @param file created if it does not exist. @throws SqliteError for a file that is no database. */
  constructor(file: string, room = new Room()) {
    this.#room = room;
    if (file !== IN_MEMORY) makePrivate(file);
    try {
      this.#db = new DatabaseSync(databaseName(file), { timeout: BUSY_MS });
    } catch (error) {
      throw withFile(sqliteErrorOf(error), file);
    }
    try {
      if (file !== IN_MEMORY) {
        this.runAlone("PRAGMA journal_mode = WAL");
        this.run("PRAGMA synchronous = FULL");
        // On macOS a plain sync leaves data in the disk's cache. Other systems ignore this.
        this.run("PRAGMA fullfsync = ON");
      }
      if (room.isFull) this.#setLogPages(LOG_PAGES_SPARING);
    } catch (error) {
      this.#db.close();
      throw withFile(error, file);
    }
    room.opened(this);
  }

  /** Whether a transaction is open. SQLite itself rolls one back when the disk is full, for instance. */
  get isInTransaction(): boolean {
    return this.#db.isOpen && this.#db.isTransaction;
  }

  /**
   * Prepares a statement, or returns it if it is prepared.
   *
   * @throws SqliteError; Error for several statements in one text.
   */
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

  /** Executes a statement that returns no rows. Returns the number of rows that it changed. */
  run(sql: string, values: readonly SqlValue[] = NO_VALUES): number {
    try {
      return Number(this.prepare(sql).statement.run(...bound(values)).changes);
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /**
   * As `run`, for a statement outside of a transaction. It is repeated once if the disk was full: nothing of it was
   * done, and the failure may have freed space (`Room`).
   */
  runAlone(sql: string, values: readonly SqlValue[] = NO_VALUES): number {
    try {
      return this.run(sql, values);
    } catch (error) {
      if (!isFull(error)) throw error;
      return this.run(sql, values);
    }
  }

  /** Executes a statement that writes. */
  write(sql: string, values: readonly SqlValue[]): Written {
    const { statement, changesRows } = this.prepare(sql);
    try {
      if (statement.columns().length > 0) {
        // As `bigint`: a number that JavaScript cannot hold would fail after the rows were changed.
        const rows = this.#withBigInts(sql).all(...bound(values));
        return { changes: rows.length, rows: rows.map(rowOf) };
      }
      const { changes } = statement.run(...bound(values));
      return { changes: changesRows ? Number(changes) : 0, rows: NO_ROWS };
    } catch (error) {
      throw this.#failure(error);
    }
  }

  /** Returns all rows of a statement that reads. */
  all(sql: string, values: readonly SqlValue[] = NO_VALUES): SqlRow[] {
    try {
      return this.prepare(sql)
        .statement.all(...bound(values))
        .map(rowOf);
    } catch (error) {
      // An integer beyond the range of numbers: `each` returns the nearest number, as the platform does.
      if (error instanceof Error && "code" in error && error.code === "ERR_OUT_OF_RANGE")
        return [...this.each(sql, values)];
      throw this.#errorOf(error);
    }
  }

  /** Yields the rows of a statement that reads one by one, so that rows before a damaged page are read. */
  *each(sql: string, values: readonly SqlValue[] = NO_VALUES): Generator<SqlRow> {
    let rows: NodeJS.Iterator<Record<string, unknown>> | undefined;
    try {
      // A new statement: others of the same text may be read at the same time.
      rows = this.#withBigInts(sql).iterate(...bound(values));
      while (true) {
        const next = rows.next();
        if (next.done === true) return;
        yield rowOf(next.value);
      }
    } catch (error) {
      throw this.#errorOf(error);
    } finally {
      // An unfinished statement would keep the write-ahead log from being reset.
      if (this.#db.isOpen) rows?.return?.();
    }
  }

  /** Sets whether disk space is spared from now on. If so, each call gives back the space that is not needed. */
  setSparing(isSparing: boolean): void {
    // Left to the next call, as is everything that fails here.
    if (!this.#db.isOpen || this.isInTransaction) return;
    try {
      this.#setLogPages(isSparing ? LOG_PAGES_SPARING : LOG_PAGES);
      if (!isSparing) return;
      this.shrink();
      this.#db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch (error) {
      // It is being read, there is no space for the copy, or the file is damaged, which its next use reports.
      if (!(sqliteErrorOf(error) instanceof SqliteError)) throw error;
    }
  }

  /**
   * Gives free space in the file back to the disk, if it is much and the rest is little. To be called outside of a
   * transaction.
   *
   * @throws SqliteError where there is no space for the copy, or the database is being read.
   */
  shrink(): void {
    const [size] = this.all(
      "SELECT page_size, page_count, freelist_count FROM pragma_page_size, pragma_page_count, pragma_freelist_count",
    );
    const page = Number(size?.page_size);
    const freeBytes = Number(size?.freelist_count) * page;
    const restBytes = Number(size?.page_count) * page - freeBytes;
    if (freeBytes < SHRINK_FREE_BYTES_MIN || restBytes > SHRINK_REST_BYTES_MAX) return;
    // The copy must not need space elsewhere on the disk.
    this.run("PRAGMA temp_store = MEMORY");
    this.run("VACUUM");
  }

  /** Copies the write-ahead log into the file, and closes it. Later uses throw `InstanceEndedError`. */
  close(): void {
    this.#room.closed(this);
    this.#prepared.clear();
    try {
      this.#db.close();
    } catch (error) {
      throw sqliteErrorOf(error);
    }
  }

  #setLogPages(pages: number): void {
    this.#db.exec(`PRAGMA wal_autocheckpoint = ${pages}`);
  }

  #withBigInts(sql: string): StatementSync {
    const { statement } = this.#prepareAnew(sql);
    statement.setReadBigInts(true);
    return statement;
  }

  #prepareAnew(sql: string): Prepared {
    try {
      const statement = this.#db.prepare(sql);
      // SQLite prepares the first statement only, and would silently ignore the others.
      const others = sql.slice(statement.sourceSQL.length);
      if (!isBlank(others))
        throw new Error(`one statement at a time is executed, and behind it is: ${others}`);
      return { statement, ...statementText(sql, statement.columns().length > 0) };
    } catch (error) {
      throw this.#errorOf(error);
    }
  }

  /** Converts the error of a failed write. If the disk is full, makes space for later writes (`Room`). */
  #failure(error: unknown): unknown {
    const reason = this.#errorOf(error);
    if (isFull(reason)) this.#room.foundFull();
    return reason;
  }

  #errorOf(error: unknown): unknown {
    if (error instanceof InstanceEndedError || this.#db.isOpen) return sqliteErrorOf(error);
    return new InstanceEndedError("the object's instance has ended, and so has its use of the database", {
      cause: error,
    });
  }
}

/**
 * Creates a file that only this user may read, unless it exists. SQLite gives the same mode to the files that it
 * creates beside it.
 */
function makePrivate(file: string): void {
  // An existing file is not opened: closing it would drop the locks that this process has on it.
  if (existsSync(file)) return;
  try {
    closeSync(openSync(file, "wx", FILE_MODE));
  } catch {
    // SQLite cannot create it either, and reports why.
  }
}

function isFull(error: unknown): boolean {
  return error instanceof SqliteError && error.message.includes("SQLITE_FULL");
}

/** Adds the file to an error, which SQLite's message lacks. */
function withFile(error: unknown, file: string): unknown {
  return error instanceof SqliteError
    ? new SqliteError(`${file}: ${error.message}`, { cause: error })
    : error;
}

type Bound = string | number | bigint | null | NodeJS.ArrayBufferView;

function bound(values: readonly SqlValue[]): readonly Bound[] {
  for (const value of values) if (value instanceof ArrayBuffer) return values.map(asView);
  return values as readonly Bound[];
}

function asView(value: SqlValue): Bound {
  return value instanceof ArrayBuffer ? new Uint8Array(value) : (value as Bound);
}

/** Converts a row to the platform's types: bytes to an `ArrayBuffer` of their own, and integers to numbers. */
function rowOf(row: Record<string, unknown>): SqlRow {
  for (const column in row) {
    const value = row[column];
    if (value instanceof Uint8Array) row[column] = value.buffer;
    else if (typeof value === "bigint") row[column] = Number(value);
  }
  return row as SqlRow;
}
