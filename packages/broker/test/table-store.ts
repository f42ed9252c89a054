import type { JournalHead, Note, OutboxItem, QueueStore, StoredSegment } from "../src/store/store.ts";

/** Content of a store. Rows are replaced, never changed in place, so a copy of the maps is a copy of the store. */
export interface Tables {
  readonly meta: Map<string, number | string>;
  readonly segments: Map<number, SegmentRow>;
  readonly states: Map<number, Uint8Array>;
  readonly outbox: Map<number, OutboxItem>;
  readonly inbox: Map<string, number>;
  readonly notes: Map<string, Uint8Array>;
  readonly journal: Map<number, Uint8Array>;
}

export interface SegmentRow {
  readonly index: Uint8Array;
  readonly state: Uint8Array | null;
  readonly payload: Uint8Array;
}

/** A row that was written, `undefined` where there is none. */
export interface Write {
  readonly table: keyof Tables;
  readonly key: number | string;
  readonly before: unknown;
  readonly after: unknown;
}

/**
 * A queue's store as tables in memory: what is committed as a whole, or taken back. When it is durable, what fails and
 * what a crash leaves is for those to say who extend it.
 */
export abstract class TableStore implements QueueStore {
  rowsWritten = 0;
  rowsRead = 0;
  /** As they were last committed, or by the commit that is open. */
  protected readonly tables: Tables;
  /** Whether this epoch of the store is over: it reaches nothing any more. */
  protected hasEnded = false;
  #open: Write[] | null = null;
  /** Segments that the open commit has deleted and no new one has taken the place of. */
  #emptied = 0;

  constructor(tables: Tables) {
    this.tables = copyOf(tables);
  }

  abstract synced(): Promise<void>;

  /** Receives the writes of a commit that has gone well. */
  protected abstract committed(writes: Write[]): void;

  /** Before each row that is written. Throws when the disk fails. */
  protected abstract beforeWrite(): void;

  commit(write: () => void): void {
    this.#alive();
    if (this.#open !== null) throw new Error("a commit within a commit");
    const writes: Write[] = [];
    this.#open = writes;
    this.#emptied = 0;
    try {
      write();
    } catch (error) {
      for (const { table, key, before } of writes.reverse()) putRow(this.tables, table, key, before);
      throw error;
    } finally {
      this.#open = null;
    }
    this.committed(writes);
  }

  readEpoch(): number {
    return Number(this.meta("epoch") ?? 0);
  }

  readName(): string | null {
    const name = this.meta("name");
    return typeof name === "string" ? name : null;
  }

  readClockOffsetMs(): number {
    return Number(this.meta("clock_offset_ms") ?? 0);
  }

  writeClockOffsetMs(offsetMs: number): void {
    this.write("meta", "clock_offset_ms", offsetMs);
  }

  readVersion(): string | null {
    const version = this.meta("version");
    return version === undefined ? null : String(version);
  }

  writeVersion(version: string): void {
    this.write("meta", "version", version);
  }

  writeEpoch(epoch: number, name: string): void {
    this.write("meta", "epoch", epoch);
    if (this.readName() !== name) this.write("meta", "name", name);
  }

  *segments(): Iterable<StoredSegment> {
    this.#alive();
    const { segments, states } = this.tables;
    for (const [id, { index, state }] of [...segments].sort(([a], [b]) => a - b)) {
      this.rowsRead += 1;
      yield { id, index: index.slice(), state: (states.get(id) ?? state)?.slice() ?? null };
    }
  }

  readPayload(id: number): Uint8Array | null {
    this.#alive();
    this.rowsRead += 1;
    return this.tables.segments.get(id)?.payload.slice() ?? null;
  }

  insertSegment(id: number, index: Uint8Array, state: Uint8Array | null, payload: Uint8Array): void {
    if (this.tables.segments.has(id)) throw new Error(`UNIQUE constraint failed: segment ${id}`);
    const row = { index: index.slice(), state: state?.slice() ?? null, payload: payload.slice() };
    this.write("segments", id, row);
    // It takes the place of one that goes with the same commit: that row is written once.
    if (this.#emptied === 0) return;
    this.#emptied -= 1;
    this.rowsWritten -= 1;
  }

  replaceSegment(id: number, index: Uint8Array, payload: Uint8Array, state: Uint8Array | null = null): void {
    const row = this.tables.segments.get(id);
    if (row === undefined) return;
    const changed = { index: index.slice(), state: state?.slice() ?? row.state, payload: payload.slice() };
    this.write("segments", id, { ...row, ...changed });
  }

  writeIndex(id: number, index: Uint8Array): void {
    const row = this.tables.segments.get(id);
    if (row !== undefined) this.write("segments", id, { ...row, index: index.slice() });
  }

  writeState(id: number, state: Uint8Array): void {
    this.write("states", id, state.slice());
  }

  writeOwnState(id: number, state: Uint8Array): void {
    const row = this.tables.segments.get(id);
    if (row !== undefined) this.write("segments", id, { ...row, state: state.slice() });
  }

  deleteSegment(id: number, hasState: boolean): void {
    if (this.tables.segments.has(id)) this.#emptied += 1;
    this.write("segments", id, undefined);
    if (hasState) this.write("states", id, undefined);
  }

  outbox(): readonly OutboxItem[] {
    this.#alive();
    return [...this.tables.outbox.values()].sort((a, b) => a.id - b.id);
  }

  insertOutbox(item: OutboxItem): void {
    if (this.tables.outbox.has(item.id)) throw new Error(`UNIQUE constraint failed: outbox ${item.id}`);
    this.write("outbox", item.id, { ...item, payload: item.payload.slice() });
  }

  deleteOutbox(ids: readonly number[]): void {
    for (const id of ids) this.write("outbox", id, undefined);
  }

  readInbox(source: string): number {
    this.#alive();
    return this.tables.inbox.get(source) ?? 0;
  }

  writeInbox(source: string, lastId: number): void {
    this.write("inbox", source, lastId);
  }

  notes(): Note[] {
    this.#alive();
    const { notes } = this.tables;
    return [...notes.keys()]
      .sort()
      .map((key) => ({ key, bytes: notes.get(key)?.slice() ?? new Uint8Array() }));
  }

  writeNote(key: string, bytes: Uint8Array | null): void {
    this.write("notes", key, bytes?.slice());
  }

  *journalHeads(bytes: number): Iterable<JournalHead> {
    this.#alive();
    for (const [slot, body] of this.tables.journal) yield { slot, head: body.slice(0, bytes) };
  }

  readJournal(slot: number): Uint8Array | null {
    this.#alive();
    return this.tables.journal.get(slot)?.slice() ?? null;
  }

  writeJournal(slot: number, body: Uint8Array): void {
    this.write("journal", slot, body.slice());
  }

  protected meta(key: string): number | string | undefined {
    this.#alive();
    return this.tables.meta.get(key);
  }

  /** Within a commit: sets a row, or deletes it for `undefined`. */
  protected write(table: keyof Tables, key: number | string, after: unknown): void {
    this.#alive();
    if (this.#open === null) throw new Error("a write outside a commit");
    this.beforeWrite();
    this.rowsWritten += 1;
    this.#open.push(this.put(table, key, after));
  }

  /** The same outside of commits, and not counted. */
  protected put(table: keyof Tables, key: number | string, after: unknown): Write {
    return { table, key, before: putRow(this.tables, table, key, after), after };
  }

  #alive(): void {
    if (this.hasEnded) throw new Error("this epoch of the store has ended");
  }
}

/** Sets a row, or deletes it for `undefined`; answers with what was there. */
export function putRow(tables: Tables, table: keyof Tables, key: number | string, value: unknown): unknown {
  const rows = tables[table] as Map<number | string, unknown>;
  const before = rows.get(key);
  if (value === undefined) rows.delete(key);
  else rows.set(key, value);
  return before;
}

export function emptyTables(): Tables {
  return {
    meta: new Map(),
    segments: new Map(),
    states: new Map(),
    outbox: new Map(),
    inbox: new Map(),
    notes: new Map(),
    journal: new Map(),
  };
}

export function copyOf(tables: Tables): Tables {
  return {
    meta: new Map(tables.meta),
    segments: new Map(tables.segments),
    states: new Map(tables.states),
    outbox: new Map(tables.outbox),
    inbox: new Map(tables.inbox),
    notes: new Map(tables.notes),
    journal: new Map(tables.journal),
  };
}
