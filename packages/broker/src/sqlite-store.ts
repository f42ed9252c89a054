import { MIGRATIONS } from "./migrations.ts";
import type { OutboxItem, QueueStore, StoredSegment } from "./store.ts";

/** Refuses to open data of a later release: this one would not understand it. */
export class SchemaVersionError extends Error {
  override readonly name = "SchemaVersionError";
}

/** The queue in the SQLite database of its Durable Object. All SQL of the project is in this file and `migrations.ts`. */
export class SqliteStore implements QueueStore {
  readonly #storage: DurableObjectStorage;
  rowsWritten = 0;
  rowsRead = 0;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    this.#migrate();
  }

  commit(write: () => void): void {
    this.#storage.transactionSync(write);
  }

  synced(): Promise<void> {
    return this.#storage.sync();
  }

  readEpoch(): number {
    return this.#number("SELECT value FROM meta WHERE key = 'epoch'") ?? 0;
  }

  readName(): string | null {
    const [row] = this.#run<{ value: string }>("SELECT value FROM meta WHERE key = 'name'");
    return row?.value ?? null;
  }

  readClockOffsetMs(): number {
    return this.#number("SELECT value FROM meta WHERE key = 'clock_offset_ms'") ?? 0;
  }

  writeClockOffsetMs(offsetMs: number): void {
    this.#run("INSERT OR REPLACE INTO meta VALUES ('clock_offset_ms', ?)", offsetMs);
  }

  writeLife(epoch: number, name: string): void {
    this.#run("INSERT OR REPLACE INTO meta VALUES ('epoch', ?)", epoch);
    if (this.readName() !== name) this.#run("INSERT OR REPLACE INTO meta VALUES ('name', ?)", name);
  }

  *segments(): Iterable<StoredSegment> {
    const rows = this.#run<{ id: number; idx: ArrayBuffer; state: ArrayBuffer | null }>(
      `SELECT s.id, s.idx, coalesce(t.state, s.state) AS state
       FROM segments s LEFT JOIN segment_states t ON t.id = s.id ORDER BY s.id`,
    );
    for (const { id, idx, state } of rows) {
      yield { id, index: new Uint8Array(idx), state: state === null ? null : new Uint8Array(state) };
    }
  }

  readPayload(id: number): Uint8Array | null {
    const [row] = this.#run<{ payload: ArrayBuffer }>("SELECT payload FROM segments WHERE id = ?", id);
    return row === undefined ? null : new Uint8Array(row.payload);
  }

  insertSegment(id: number, index: Uint8Array, state: Uint8Array | null, payload: Uint8Array): void {
    this.#run("INSERT INTO segments VALUES (?, ?, ?, ?)", id, index, state, payload);
  }

  replaceSegment(id: number, index: Uint8Array, payload: Uint8Array): void {
    this.#run("UPDATE segments SET idx = ?, payload = ? WHERE id = ?", index, payload, id);
  }

  writeState(id: number, state: Uint8Array): void {
    this.#run("INSERT OR REPLACE INTO segment_states VALUES (?, ?)", id, state);
  }

  deleteSegment(id: number, hasState: boolean): void {
    this.#run("DELETE FROM segments WHERE id = ?", id);
    if (hasState) this.#run("DELETE FROM segment_states WHERE id = ?", id);
  }

  outbox(): readonly OutboxItem[] {
    return this.#run<{ id: number; target: string; payload: ArrayBuffer }>(
      "SELECT id, target, payload FROM outbox ORDER BY id",
    ).map((row) => ({ id: row.id, target: row.target, payload: new Uint8Array(row.payload) }));
  }

  insertOutbox(item: OutboxItem): void {
    this.#run("INSERT INTO outbox VALUES (?, ?, ?)", item.id, item.target, item.payload);
  }

  deleteOutbox(id: number): void {
    this.#run("DELETE FROM outbox WHERE id = ?", id);
  }

  readInbox(source: string): number {
    return this.#number("SELECT last_id AS value FROM inbox WHERE source = ?", source) ?? 0;
  }

  writeInbox(source: string, lastId: number): void {
    this.#run("INSERT OR REPLACE INTO inbox VALUES (?, ?)", source, lastId);
  }

  #number(sql: string, ...bindings: unknown[]): number | undefined {
    return this.#run<{ value: number }>(sql, ...bindings)[0]?.value;
  }

  #run<Row extends Record<string, SqlStorageValue>>(sql: string, ...bindings: unknown[]): Row[] {
    const cursor = this.#storage.sql.exec<Row>(sql, ...bindings);
    const rows = cursor.toArray();
    this.rowsWritten += cursor.rowsWritten;
    this.rowsRead += cursor.rowsRead;
    return rows;
  }

  #migrate(): void {
    const [meta] = this.#run("SELECT name FROM sqlite_master WHERE name = 'meta'");
    const version =
      meta === undefined ? 0 : (this.#number("SELECT value FROM meta WHERE key = 'schema'") ?? 0);
    if (version > MIGRATIONS.length) {
      throw new SchemaVersionError(
        `this queue was written by a later release (schema ${version}); this one knows ${MIGRATIONS.length}`,
      );
    }
    if (version === MIGRATIONS.length) return;
    this.#storage.transactionSync(() => {
      for (const step of MIGRATIONS.slice(version)) for (const statement of step) this.#run(statement);
      this.#run("INSERT OR REPLACE INTO meta VALUES ('schema', ?)", MIGRATIONS.length);
    });
  }
}
