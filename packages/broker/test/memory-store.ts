import type { QueueDamage } from "@sluice/protocol";
import type { DamageRecord } from "../src/damage-log.ts";
import type { Note, OutboxItem, QueueStore, StoredSegment } from "../src/store.ts";

/** What a disk holds. Rows are replaced, never changed in place, so a copy of the maps is a copy of the disk. */
interface Tables {
  readonly meta: Map<string, number | string>;
  readonly segments: Map<number, { index: Uint8Array; state: Uint8Array | null; payload: Uint8Array }>;
  readonly states: Map<number, Uint8Array>;
  readonly outbox: Map<number, OutboxItem>;
  readonly inbox: Map<string, number>;
  readonly notes: Map<string, Uint8Array>;
}

/** What the k-th write fails with. */
export class WriteFailure extends Error {
  override readonly name = "WriteFailure";
}

/**
 * A queue's store in memory, with what makes a disk a disk: what is committed is not durable yet, a crash takes away what
 * is not, a write can fail, and after a crash the old process reaches nothing any more.
 */
export class MemoryStore implements QueueStore, DamageRecord {
  #tables: Tables;
  #durable: Tables;
  #inCommit = false;
  #crashed = false;
  #held = false;
  #waiters: (() => void)[] = [];
  #writesUntilFailure = Infinity;
  /** Rows that the commit has deleted and nothing has taken the place of. */
  #emptied = 0;
  /** Commits that wrote something. */
  commits = 0;
  rowsWritten = 0;
  rowsRead = 0;

  constructor(tables: Tables = emptyTables()) {
    this.#tables = copyOf(tables);
    this.#durable = copyOf(tables);
  }

  // What a test does to the disk.

  /** Lets nothing become durable until `release`. */
  hold(): void {
    this.#held = true;
  }

  /** Makes everything committed durable, and what comes later at once. */
  release(): void {
    this.#held = false;
    this.syncNow();
  }

  /** Makes what is committed by now durable; a hold stays. */
  syncNow(): void {
    this.#durable = copyOf(this.#tables);
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) resolve();
  }

  /** Calls of `synced` that have not resolved. */
  get waiting(): number {
    return this.#waiters.length;
  }

  /** The k-th write from now on fails, once; 1 is the next one. */
  failWrite(k: number): void {
    this.#writesUntilFailure = k;
  }

  /** Ends this life. Answers with the store of the next one, which has what was durable. */
  crash(): MemoryStore {
    this.#crashed = true;
    return new MemoryStore(this.#durable);
  }

  /** Changes stored bytes behind the queue's back: damage. */
  damage(change: (tables: Tables) => void): void {
    change(this.#tables);
    change(this.#durable);
  }

  // What the queue does.

  commit(write: () => void): void {
    this.#alive();
    if (this.#inCommit) throw new Error("a commit within a commit");
    const before = copyOf(this.#tables);
    this.#inCommit = true;
    this.#emptied = 0;
    try {
      write();
      this.commits += 1;
    } catch (error) {
      this.#tables = before;
      throw error;
    } finally {
      this.#inCommit = false;
    }
  }

  synced(): Promise<void> {
    if (this.#crashed) return new Promise(() => {});
    if (!this.#held) {
      this.syncNow();
      return Promise.resolve();
    }
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  readEpoch(): number {
    return Number(this.#meta("epoch") ?? 0);
  }

  readName(): string | null {
    const name = this.#meta("name");
    return typeof name === "string" ? name : null;
  }

  readClockOffsetMs(): number {
    return Number(this.#meta("clock_offset_ms") ?? 0);
  }

  writeClockOffsetMs(offsetMs: number): void {
    this.#write();
    this.#tables.meta.set("clock_offset_ms", offsetMs);
  }

  writeLife(epoch: number, name: string): void {
    this.#write();
    this.#tables.meta.set("epoch", epoch);
    if (this.readName() === name) return;
    this.#write();
    this.#tables.meta.set("name", name);
  }

  readDamage(): readonly QueueDamage[] {
    return JSON.parse(String(this.#meta("damage") ?? "[]")) as QueueDamage[];
  }

  writeDamage(damage: readonly QueueDamage[]): void {
    this.#write();
    this.#tables.meta.set("damage", JSON.stringify(damage));
  }

  *segments(): Iterable<StoredSegment> {
    this.#alive();
    const { segments, states } = this.#tables;
    for (const [id, { index, state }] of [...segments].sort(([a], [b]) => a - b)) {
      this.rowsRead += 1;
      const latest = states.get(id) ?? state;
      yield { id, index: index.slice(), state: latest?.slice() ?? null };
    }
  }

  readPayload(id: number): Uint8Array | null {
    this.#alive();
    this.rowsRead += 1;
    return this.#tables.segments.get(id)?.payload.slice() ?? null;
  }

  insertSegment(id: number, index: Uint8Array, state: Uint8Array | null, payload: Uint8Array): void {
    // It takes the place of one that goes with the same commit: that row is written once.
    this.#alive();
    if (this.#emptied > 0) this.#emptied -= 1;
    else this.#write();
    if (this.#tables.segments.has(id)) throw new Error(`UNIQUE constraint failed: segment ${id}`);
    const row = { index: index.slice(), state: state?.slice() ?? null, payload: payload.slice() };
    this.#tables.segments.set(id, row);
  }

  replaceSegment(id: number, index: Uint8Array, payload: Uint8Array): void {
    this.#write();
    const row = this.#tables.segments.get(id);
    if (row === undefined) return;
    this.#tables.segments.set(id, { ...row, index: index.slice(), payload: payload.slice() });
  }

  writeIndex(id: number, index: Uint8Array): void {
    this.#write();
    const row = this.#tables.segments.get(id);
    if (row !== undefined) this.#tables.segments.set(id, { ...row, index: index.slice() });
  }

  writeState(id: number, state: Uint8Array): void {
    this.#write();
    this.#tables.states.set(id, state.slice());
  }

  deleteSegment(id: number, hasState: boolean): void {
    this.#write();
    if (this.#tables.segments.delete(id)) this.#emptied += 1;
    if (!hasState) return;
    this.#write();
    this.#tables.states.delete(id);
  }

  outbox(): readonly OutboxItem[] {
    this.#alive();
    return [...this.#tables.outbox.values()].sort((a, b) => a.id - b.id);
  }

  insertOutbox(item: OutboxItem): void {
    this.#write();
    if (this.#tables.outbox.has(item.id)) throw new Error(`UNIQUE constraint failed: outbox ${item.id}`);
    this.#tables.outbox.set(item.id, { ...item, payload: item.payload.slice() });
  }

  deleteOutbox(ids: readonly number[]): void {
    for (const id of ids) {
      this.#write();
      this.#tables.outbox.delete(id);
    }
  }

  readInbox(source: string): number {
    this.#alive();
    return this.#tables.inbox.get(source) ?? 0;
  }

  writeInbox(source: string, lastId: number): void {
    this.#write();
    this.#tables.inbox.set(source, lastId);
  }

  notes(): Note[] {
    this.#alive();
    const { notes } = this.#tables;
    return [...notes.keys()]
      .sort()
      .map((key) => ({ key, bytes: notes.get(key)?.slice() ?? new Uint8Array() }));
  }

  writeNote(key: string, bytes: Uint8Array | null): void {
    this.#write();
    if (bytes === null) this.#tables.notes.delete(key);
    else this.#tables.notes.set(key, bytes.slice());
  }

  #meta(key: string): number | string | undefined {
    this.#alive();
    return this.#tables.meta.get(key);
  }

  #write(): void {
    this.#alive();
    if (!this.#inCommit) throw new Error("a write outside a commit");
    this.#writesUntilFailure -= 1;
    if (this.#writesUntilFailure === 0) throw new WriteFailure("the disk failed");
    this.rowsWritten += 1;
  }

  #alive(): void {
    if (this.#crashed) throw new Error("this life of the store has ended");
  }
}

function emptyTables(): Tables {
  return {
    meta: new Map(),
    segments: new Map(),
    states: new Map(),
    outbox: new Map(),
    inbox: new Map(),
    notes: new Map(),
  };
}

function copyOf(tables: Tables): Tables {
  return {
    meta: new Map(tables.meta),
    segments: new Map(tables.segments),
    states: new Map(tables.states),
    outbox: new Map(tables.outbox),
    inbox: new Map(tables.inbox),
    notes: new Map(tables.notes),
  };
}
