import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import type { HostStorage } from "../src/platform/host.ts";
import { IS_LIVE } from "../src/store/mark.ts";
import { checksumsOf } from "../src/store/record-checksums.ts";
import { SqliteStore } from "../src/store/sqlite-store.ts";
import type { OutboxItem, StoredSegment } from "../src/store/store.ts";

/** Error that the k-th write fails with. */
export class WriteFailure extends Error {
  override readonly name = "WriteFailure";
}

/** Rows of a store, by their keys. */
interface Tables {
  readonly segments: Map<number, StoredSegment & { readonly payload: Uint8Array }>;
  readonly states: Map<number, Uint8Array>;
  readonly outbox: Map<number, OutboxItem>;
  readonly notes: Map<string, Uint8Array>;
}

/** Storage of an object from its start to its end, in a database in memory. Written rows are durable after a sync. */
class MemoryStorage {
  isHeld = false;
  hasEnded = false;
  waiters: (() => void)[] = [];
  writesUntilFailure = Infinity;
  readonly database: DatabaseSync;
  readonly sql = { exec: (text: string, ...values: SQLInputValue[]) => this.#exec(text, values) };

  constructor(database: DatabaseSync) {
    this.database = database;
    database.exec("SAVEPOINT durable");
  }

  transactionSync(write: () => void): void {
    this.database.exec("SAVEPOINT t");
    try {
      write();
    } catch (error) {
      this.database.exec("ROLLBACK TO t");
      throw error;
    } finally {
      this.database.exec("RELEASE t");
    }
  }

  sync(): Promise<void> {
    if (this.hasEnded) return new Promise(() => {});
    if (this.isHeld) return new Promise((resolve) => this.waiters.push(resolve));
    this.syncNow();
    return Promise.resolve();
  }

  syncNow(): void {
    this.database.exec("RELEASE durable; SAVEPOINT durable");
    const { waiters } = this;
    this.waiters = [];
    for (const resolve of waiters) resolve();
  }

  #exec(text: string, values: SQLInputValue[]) {
    if (this.hasEnded) throw new Error("this epoch of the store has ended");
    const statement = this.database.prepare(text);
    if (statement.columns().length > 0) {
      const rows = statement.all(...values);
      return { toArray: () => rows, rowsRead: rows.length, rowsWritten: 0 };
    }
    this.writesUntilFailure -= 1;
    if (this.writesUntilFailure === 0) throw new WriteFailure("the disk failed");
    return { toArray: () => [], rowsRead: 0, rowsWritten: Number(statement.run(...values).changes) };
  }
}

/**
 * A queue's store in memory, with what makes a disk a disk: what is committed is not durable yet, a crash takes away
 * what is not, a write can fail, and after a crash the old process reaches nothing any more.
 */
export class MemoryStore extends SqliteStore {
  readonly #storage: MemoryStorage;

  constructor(database = new DatabaseSync(":memory:")) {
    const storage = new MemoryStorage(database);
    super(storage as unknown as HostStorage);
    this.#storage = storage;
    storage.syncNow();
    this.rowsWritten = 0;
    this.rowsRead = 0;
  }

  /** Lets nothing become durable until `release`. */
  hold(): void {
    this.#storage.isHeld = true;
  }

  /** Makes everything committed durable, and what comes later at once. */
  release(): void {
    this.#storage.isHeld = false;
    this.syncNow();
  }

  /** Makes what is committed by now durable; a hold stays. */
  syncNow(): void {
    this.#storage.syncNow();
  }

  /** The k-th write from now on fails, once; 1 is the next one. */
  failWrite(k: number): void {
    this.#storage.writesUntilFailure = k;
  }

  /** Ends this epoch. Answers with the store of the next one, which has what was durable. */
  crash(): MemoryStore {
    const { database } = this.#storage;
    this.#storage.hasEnded = true;
    database.exec("ROLLBACK TO durable; RELEASE durable");
    return new MemoryStore(database);
  }

  /** Changes stored bytes behind the queue's back, and their checksums with them: damage that these do not tell. */
  damage(change: (tables: Tables) => void): void {
    const { database } = this.#storage;
    const run = (sql: string, ...values: SQLInputValue[]) => database.prepare(sql).run(...values);
    const rowsOf = <Row>(sql: string) => database.prepare(sql).all() as Row[];
    const segments = rowsOf<Required<Parameters<Tables["segments"]["set"]>[1]>>(
      `SELECT id, idx AS 'index', state, payload FROM segments WHERE ${IS_LIVE}`,
    );
    const states = rowsOf<{ id: number; state: Uint8Array }>("SELECT id, state FROM segment_states");
    const tables: Tables = {
      segments: new Map(segments.map((row) => [row.id, row])),
      states: new Map(states.map(({ id, state }) => [id, state])),
      outbox: new Map(rowsOf<OutboxItem>("SELECT * FROM outbox").map((row) => [row.id, row])),
      notes: new Map(this.notes().map(({ key, bytes }) => [key, bytes])),
    };
    change(tables);
    for (const { id } of segments) if (!tables.segments.has(id)) run("DELETE FROM segments WHERE id = ?", id);
    for (const [id, { index, state, payload }] of tables.segments) {
      const values = [index, state, checksumsOf(payload), payload, id];
      run("UPDATE segments SET idx = ?, state = ?, seal = ?, payload = ? WHERE id = ?", ...values);
    }
    for (const [id, { payload }] of tables.outbox) {
      run("UPDATE outbox SET seal = ?, payload = ? WHERE id = ?", checksumsOf(payload), payload, id);
    }
    for (const [key, bytes] of tables.notes) run("UPDATE notes SET value = ? WHERE key = ?", bytes, key);
    this.syncNow();
  }
}
