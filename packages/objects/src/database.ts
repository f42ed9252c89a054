import { DatabaseSync, type StatementSync } from "node:sqlite";
import { sqliteErrorOf } from "./sqlite-error.ts";

/** How long a lock is waited for that another program has on the file, to look at it, in ms. */
const BUSY_MS = 5_000;

/** What a statement takes and gives. */
export type SqlValue = string | number | bigint | null | ArrayBuffer | ArrayBufferView;
export type SqlRow = Record<string, string | number | null | ArrayBuffer>;

/** A statement that is prepared. */
export interface Prepared {
  readonly statement: StatementSync;
  /** Whether it has rows to give; all others may write. */
  readonly hasRows: boolean;
}

/** A database file as workerd keeps those of Durable Objects: a log of pages beside it, synced at every commit. */
export class Database {
  readonly #db: DatabaseSync;
  readonly #prepared = new Map<string, Prepared>();

  /** @param file is made if it is not there. Throws `SqliteError` for one that is no database. */
  constructor(file: string) {
    this.#db = translated(() => new DatabaseSync(file, { timeout: BUSY_MS }));
    try {
      this.run("PRAGMA journal_mode = WAL");
      this.run("PRAGMA synchronous = FULL");
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  /** Whether a transaction is under way. SQLite itself ends one when there is no room, for instance. */
  get isInTransaction(): boolean {
    return this.#db.isTransaction;
  }

  /** A statement, prepared once. */
  prepare(sql: string): Prepared {
    let prepared = this.#prepared.get(sql);
    if (prepared === undefined) {
      prepared = this.prepareAnew(sql);
      this.#prepared.set(sql, prepared);
    }
    return prepared;
  }

  /** One of its own, for rows that are read while others of the same statement may be. */
  prepareAnew(sql: string): Prepared {
    return translated(() => {
      const statement = this.#db.prepare(sql);
      return { statement, hasRows: statement.columns().length > 0 };
    });
  }

  /** Executes a statement; the rows that it changed. */
  run(sql: string, ...bindings: readonly SqlValue[]): number {
    const { statement } = this.prepare(sql);
    return translated(() => Number(statement.run(...bindings.map(bound)).changes));
  }

  all(sql: string, ...bindings: readonly SqlValue[]): SqlRow[] {
    const { statement } = this.prepare(sql);
    return translated(() => statement.all(...bindings.map(bound)).map(rowOf));
  }

  /** The same row by row: what was read before a damaged page was met has been read. */
  *each(sql: string, ...bindings: readonly SqlValue[]): Generator<SqlRow> {
    const { statement } = this.prepareAnew(sql);
    const rows = translated(() => statement.iterate(...bindings.map(bound)));
    while (true) {
      const next = translated(() => rows.next());
      if (next.done === true) return;
      yield rowOf(next.value);
    }
  }

  /** Puts the log into the file. Whoever uses the database then gets an error. */
  close(): void {
    this.#prepared.clear();
    translated(() => this.#db.close());
  }
}

type Bound = string | number | bigint | null | NodeJS.ArrayBufferView;

function bound(value: SqlValue): Bound {
  return value instanceof ArrayBuffer ? new Uint8Array(value) : (value as Bound);
}

/** Bytes are given as an `ArrayBuffer`, as the platform gives them. They have one to themselves. */
function rowOf(row: Record<string, unknown>): SqlRow {
  for (const column in row) {
    const value = row[column];
    if (value instanceof Uint8Array) row[column] = value.buffer;
  }
  return row as SqlRow;
}

function translated<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw sqliteErrorOf(error);
  }
}
