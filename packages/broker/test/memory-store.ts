import type { QueueDamage } from "@sluice/protocol";
import type {
  DamageRecord,
  JournalHead,
  Note,
  OutboxItem,
  QueueStore,
  StoredSegment,
} from "../src/store/store.ts";

/** Error that the k-th write fails with. */
export class WriteFailure extends Error {
  override readonly name = "WriteFailure";
}

interface SegmentRow {
  readonly index: Uint8Array;
  readonly state: Uint8Array | null;
  readonly payload: Uint8Array;
}

/** Content of a store. Rows are replaced, never changed in place, so a copy of the maps is a copy of the store. */
class Tables {
  readonly meta: Map<string, number | string>;
  readonly segments: Map<number, SegmentRow>;
  readonly states: Map<number, Uint8Array>;
  readonly outbox: Map<number, OutboxItem>;
  readonly inbox: Map<string, number>;
  readonly notes: Map<string, Uint8Array>;
  readonly journal: Map<number, Uint8Array>;

  /** @param from tables that these are a copy of. */
  constructor(from?: Tables) {
    this.meta = new Map(from?.meta);
    this.segments = new Map(from?.segments);
    this.states = new Map(from?.states);
    this.outbox = new Map(from?.outbox);
    this.inbox = new Map(from?.inbox);
    this.notes = new Map(from?.notes);
    this.journal = new Map(from?.journal);
  }
}

/**
 * A queue's store in memory, with what makes a disk a disk: what is committed is not durable yet, a crash takes away
 * what is not, a write can fail, and after a crash the old process reaches nothing any more.
 */
export class MemoryStore implements QueueStore, DamageRecord {
  rowsWritten = 0;
  rowsRead = 0;
  /** Commits that wrote something. */
  commits = 0;
  /** As they were last committed, or by the commit that is open. */
  readonly #tables: Tables;
  #durable: Tables;
  /** Takes back each write of the open commit; `null` outside of one. */
  #open: (() => void)[] | null = null;
  /** Segments that the open commit has deleted and no new one has taken the place of. */
  #emptied = 0;
  #isHeld = false;
  #hasEnded = false;
  #waiters: (() => void)[] = [];
  #writesUntilFailure = Infinity;

  constructor(tables = new Tables()) {
    this.#tables = new Tables(tables);
    this.#durable = tables;
  }

  // What a test does to the disk.

  /** Lets nothing become durable until `release`. */
  hold(): void {
    this.#isHeld = true;
  }

  /** Makes everything committed durable, and what comes later at once. */
  release(): void {
    this.#isHeld = false;
    this.syncNow();
  }

  /** Makes what is committed by now durable; a hold stays. */
  syncNow(): void {
    this.#durable = new Tables(this.#tables);
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

  /** Ends this epoch. Answers with the store of the next one, which has what was durable. */
  crash(): MemoryStore {
    this.#hasEnded = true;
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
    if (this.#open !== null) throw new Error("a commit within a commit");
    const undo: (() => void)[] = [];
    this.#open = undo;
    this.#emptied = 0;
    try {
      write();
    } catch (error) {
      for (const takeBack of undo.reverse()) takeBack();
      throw error;
    } finally {
      this.#open = null;
    }
    this.commits += 1;
  }

  synced(): Promise<void> {
    if (this.#hasEnded) return new Promise(() => {});
    if (this.#isHeld) return new Promise((resolve) => this.#waiters.push(resolve));
    this.syncNow();
    return Promise.resolve();
  }

  readDamage(): readonly QueueDamage[] {
    return JSON.parse(String(this.#meta("damage") ?? "[]")) as QueueDamage[];
  }

  writeDamage(damage: readonly QueueDamage[]): void {
    this.#write("meta", "damage", JSON.stringify(damage));
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
    this.#write("meta", "clock_offset_ms", offsetMs);
  }

  readVersion(): string | null {
    const version = this.#meta("version");
    return version === undefined ? null : String(version);
  }

  writeVersion(version: string): void {
    this.#write("meta", "version", version);
  }

  writeEpoch(epoch: number, name: string): void {
    this.#write("meta", "epoch", epoch);
    if (this.readName() !== name) this.#write("meta", "name", name);
  }

  *segments(): Iterable<StoredSegment> {
    this.#alive();
    const { segments, states } = this.#tables;
    for (const [id, { index, state }] of [...segments].sort(([a], [b]) => a - b)) {
      this.rowsRead += 1;
      yield { id, index: index.slice(), state: (states.get(id) ?? state)?.slice() ?? null };
    }
  }

  readPayload(id: number): Uint8Array | null {
    this.#alive();
    this.rowsRead += 1;
    return this.#tables.segments.get(id)?.payload.slice() ?? null;
  }

  insertSegment(id: number, index: Uint8Array, state: Uint8Array | null, payload: Uint8Array): void {
    if (this.#tables.segments.has(id)) throw new Error(`UNIQUE constraint failed: segment ${id}`);
    const row = { index: index.slice(), state: state?.slice() ?? null, payload: payload.slice() };
    this.#write("segments", id, row);
    // It takes the place of one that goes with the same commit: that row is written once.
    if (this.#emptied === 0) return;
    this.#emptied -= 1;
    this.rowsWritten -= 1;
  }

  replaceSegment(id: number, index: Uint8Array, payload: Uint8Array, state: Uint8Array | null = null): void {
    const row = this.#tables.segments.get(id);
    if (row === undefined) return;
    const changed = { index: index.slice(), state: state?.slice() ?? row.state, payload: payload.slice() };
    this.#write("segments", id, { ...row, ...changed });
  }

  writeIndex(id: number, index: Uint8Array): void {
    const row = this.#tables.segments.get(id);
    if (row !== undefined) this.#write("segments", id, { ...row, index: index.slice() });
  }

  writeState(id: number, state: Uint8Array): void {
    this.#write("states", id, state.slice());
  }

  writeOwnState(id: number, state: Uint8Array): void {
    const row = this.#tables.segments.get(id);
    if (row !== undefined) this.#write("segments", id, { ...row, state: state.slice() });
  }

  deleteSegment(id: number, hasState: boolean): void {
    if (this.#tables.segments.has(id)) this.#emptied += 1;
    this.#write("segments", id, undefined);
    if (hasState) this.#write("states", id, undefined);
  }

  outbox(): readonly OutboxItem[] {
    this.#alive();
    return [...this.#tables.outbox.values()].sort((a, b) => a.id - b.id);
  }

  insertOutbox(item: OutboxItem): void {
    if (this.#tables.outbox.has(item.id)) throw new Error(`UNIQUE constraint failed: outbox ${item.id}`);
    this.#write("outbox", item.id, { ...item, payload: item.payload.slice() });
  }

  deleteOutbox(ids: readonly number[]): void {
    for (const id of ids) this.#write("outbox", id, undefined);
  }

  readInbox(source: string): number {
    this.#alive();
    return this.#tables.inbox.get(source) ?? 0;
  }

  writeInbox(source: string, lastId: number): void {
    this.#write("inbox", source, lastId);
  }

  notes(): Note[] {
    this.#alive();
    const { notes } = this.#tables;
    return [...notes.keys()]
      .sort()
      .map((key) => ({ key, bytes: notes.get(key)?.slice() ?? new Uint8Array() }));
  }

  writeNote(key: string, bytes: Uint8Array | null): void {
    this.#write("notes", key, bytes?.slice());
  }

  *journalHeads(bytes: number): Iterable<JournalHead> {
    this.#alive();
    for (const [slot, body] of this.#tables.journal) yield { slot, head: body.slice(0, bytes) };
  }

  readJournal(slot: number): Uint8Array | null {
    this.#alive();
    return this.#tables.journal.get(slot)?.slice() ?? null;
  }

  writeJournal(slot: number, body: Uint8Array): void {
    this.#write("journal", slot, body.slice());
  }

  #meta(key: string): number | string | undefined {
    this.#alive();
    return this.#tables.meta.get(key);
  }

  /** Within a commit: sets a row, or deletes it for `undefined`. */
  #write(table: keyof Tables, key: number | string, after: unknown): void {
    this.#alive();
    if (this.#open === null) throw new Error("a write outside a commit");
    this.#writesUntilFailure -= 1;
    if (this.#writesUntilFailure === 0) throw new WriteFailure("the disk failed");
    this.rowsWritten += 1;
    const rows = this.#tables[table] as Map<number | string, unknown>;
    const before = rows.get(key);
    this.#open.push(() => put(rows, key, before));
    put(rows, key, after);
  }

  #alive(): void {
    if (this.#hasEnded) throw new Error("this epoch of the store has ended");
  }
}

function put(rows: Map<number | string, unknown>, key: number | string, value: unknown): void {
  if (value === undefined) rows.delete(key);
  else rows.set(key, value);
}
