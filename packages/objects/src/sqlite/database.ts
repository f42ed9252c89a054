import { closeSync, existsSync, openSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { InstanceEndedError } from "../instance-ended.ts";
import { databaseName } from "./database-name.ts";
import { Room } from "./room.ts";
import { SqliteError, sqliteErrorOf } from "./sqlite-error.ts";
import { isBlank, type StatementText, statementText } from "./statement.ts";

/** How long a lock is waited for that another program has on the file, to look at it, in ms. */
const BUSY_MS = 5_000;
const FILE_MODE = 0o600;

/** Most statements of a database that stay prepared. A queue has some sixty. */
export const STATEMENTS_KEPT_MAX = 200;

/**
 * Pages that the log grows to until they are put into the file: SQLite's default, and on a full disk, which 0.3 MB are
 * much of.
 */
const LOG_PAGES = 1_000;
const LOG_PAGES_SPARING = 64;
/** Free room in a file, in bytes, for which the rest of it is copied to give it back to the disk. */
export const SHRINK_FREE_BYTES_MIN = 500_000;
/** Largest rest that is copied, in bytes: it goes through the log, for which there must be room, and takes 10 ms. */
export const SHRINK_REST_BYTES_MAX = 2_000_000;

/** Value that a statement takes, and row that it gives. */
export type SqlValue = string | number | bigint | null | ArrayBuffer | ArrayBufferView;
export type SqlRow = Record<string, string | number | null | ArrayBuffer>;

/** A statement that is prepared. */
export interface Prepared extends StatementText {
  readonly statement: StatementSync;
}

/** Outcome of a statement that writes. */
export interface Written {
  /** Rows of tables that it changed. */
  readonly changes: number;
  /** Rows that its `RETURNING` clause gives of them. */
  readonly rows: SqlRow[];
}

const NO_VALUES: readonly SqlValue[] = [];
const NO_ROWS: SqlRow[] = [];

/** Name of a database that ends with its process. */
export const IN_MEMORY = ":memory:";

/** A database file as workerd keeps those of Durable Objects: a log of pages beside it, synced at every commit. */
export class Database {
  readonly #db: DatabaseSync;
  readonly #room: Room;
  readonly #prepared = new Map<string, Prepared>();

  /** @param file is made if it is not there. Throws `SqliteError` for one that is no database. */
  constructor(file: string, room = new Room()) {
    this.#room = room;
    if (file !== IN_MEMORY) makePrivate(file);
    try {
      this.#db = new DatabaseSync(databaseName(file), { timeout: BUSY_MS });
    } catch (error) {
      throw named(sqliteErrorOf(error), file);
    }
    try {
      if (file !== IN_MEMORY) {
        this.runAlone("PRAGMA journal_mode = WAL");
        this.run("PRAGMA synchronous = FULL");
        // What macOS calls a sync leaves it in the memory of the disk. Other systems know no other sync.
        this.run("PRAGMA fullfsync = ON");
      }
      if (room.isFull) this.#setLogPages(LOG_PAGES_SPARING);
    } catch (error) {
      this.#db.close();
      throw named(error, file);
    }
    room.opened(this);
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
      throw this.#failure(error);
    }
  }

  /**
   * The same for a statement that is a transaction by itself: nothing of one that found no room was done, so it is
   * tried again.
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
        // Rows that could not be given for their numbers would be changed all the same.
        const rows = this.#withBigInts(sql).all(...bound(values));
        return { changes: rows.length, rows: rows.map(rowOf) };
      }
      const { changes } = statement.run(...bound(values));
      return { changes: changesRows ? Number(changes) : 0, rows: NO_ROWS };
    } catch (error) {
      throw this.#failure(error);
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

  /**
   * Spares room on the disk from now on, or no more. Gives back what can be given back at once; it may be called again
   * for that.
   */
  setSparing(isSparing: boolean): void {
    // Else at the next call, as all that fails here: nobody waits for it.
    if (!this.#db.isOpen || this.isInTransaction) return;
    try {
      this.#setLogPages(isSparing ? LOG_PAGES_SPARING : LOG_PAGES);
      if (!isSparing) return;
      this.shrink();
      this.#db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch (error) {
      // Somebody reads it, there is no room for the copy, or the file is damaged: who uses it is told of that.
      if (!(sqliteErrorOf(error) instanceof SqliteError)) throw error;
    }
  }

  /**
   * Gives free room in the file back to the disk, if it is much and what is left is little. Not in a transaction.
   *
   * @throws SqliteError where there is no room for the copy, or somebody reads.
   */
  shrink(): void {
    const [size] = this.all(
      "SELECT page_size, page_count, freelist_count FROM pragma_page_size, pragma_page_count, pragma_freelist_count",
    );
    const page = Number(size?.page_size);
    const freeBytes = Number(size?.freelist_count) * page;
    const restBytes = Number(size?.page_count) * page - freeBytes;
    if (freeBytes < SHRINK_FREE_BYTES_MIN || restBytes > SHRINK_REST_BYTES_MAX) return;
    // The copy is not to look for room elsewhere on the disk.
    this.run("PRAGMA temp_store = MEMORY");
    this.run("VACUUM");
  }

  /** Puts the log into the file. Whoever uses the database then gets `InstanceEndedError`. */
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
      // SQLite prepares the first one only, and would pass over the others in silence.
      const others = sql.slice(statement.sourceSQL.length);
      if (!isBlank(others))
        throw new Error(`one statement at a time is executed, and behind it is: ${others}`);
      return { statement, ...statementText(sql, statement.columns().length > 0) };
    } catch (error) {
      throw this.#errorOf(error);
    }
  }

  /** Converts the error of a failed write. Where it says that the disk is full, room is made for the next ones. */
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
 * Makes a file that is not there, which nobody else may read. What SQLite makes beside it may be read by whoever may
 * read it.
 */
function makePrivate(file: string): void {
  // To close a file drops the locks that this process has on it: not on one that is there.
  if (existsSync(file)) return;
  try {
    closeSync(openSync(file, "wx", FILE_MODE));
  } catch {
    // SQLite cannot make it either, and says so.
  }
}

function isFull(error: unknown): boolean {
  return error instanceof SqliteError && error.message.includes("SQLITE_FULL");
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

/**
 * Bytes are given as an `ArrayBuffer`, as the platform gives them (they have one to themselves), and integers as
 * numbers.
 */
function rowOf(row: Record<string, unknown>): SqlRow {
  for (const column in row) {
    const value = row[column];
    if (value instanceof Uint8Array) row[column] = value.buffer;
    else if (typeof value === "bigint") row[column] = Number(value);
  }
  return row as SqlRow;
}
