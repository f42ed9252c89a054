import type { Note, OutboxItem, QueueStore, StoredSegment } from "@sluice/broker/testing";

/** What is written: rows are replaced, never changed in place, so a copy of the maps is a copy of the disk. */
interface Tables {
  readonly meta: Map<string, number | string>;
  readonly segments: Map<number, SegmentRow>;
  readonly states: Map<number, Uint8Array>;
  readonly outbox: Map<number, OutboxItem>;
  readonly inbox: Map<string, number>;
  readonly notes: Map<string, Uint8Array>;
}

export interface SegmentRow {
  readonly index: Uint8Array;
  readonly state: Uint8Array | null;
  readonly payload: Uint8Array;
}

interface Write {
  readonly table: keyof Tables;
  readonly key: number | string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Writes that become durable together. */
export interface Version {
  readonly number: number;
  /** Event of the history in which it was written: what is written in the same one, becomes durable with it. */
  readonly event: number;
  readonly writes: Write[];
  /** Whether it is a commit of the queue, not an alarm alone. */
  readonly isCommit: boolean;
}

/** What a write on a full disk throws. */
export class DiskFullError extends Error {
  override readonly name = "DiskFullError";
}

export interface DiskObserver {
  /** Number of the running event. */
  event(): number;
  /** A commit was written and is not durable yet. */
  committed(version: Version): void;
  /** Something was written that has to become durable some day. */
  unsynced(): void;
}

/**
 * The store of one life of a queue, with the boundary at which things go wrong: what is committed is not durable yet, and
 * a crash keeps as many of the last commits as the scheduler says, none of them by half.
 */
export class Disk implements QueueStore {
  rowsWritten = 0;
  rowsRead = 0;
  readonly #observer: DiskObserver;
  readonly #live: Tables;
  readonly #durable: Tables;
  readonly #pending: Version[] = [];
  #committedVersion: number;
  #durableVersion: number;
  #open: Write[] | null = null;
  /** Segments that the open commit has deleted and no new one has taken the place of. */
  #emptied = 0;
  #hasEnded = false;
  #waiters: { readonly version: number; readonly run: () => void }[] = [];
  #failFrom = Infinity;
  #failCount = 0;

  constructor(observer: DiskObserver, durable: Tables = emptyTables(), version = 0) {
    this.#observer = observer;
    this.#durable = durable;
    this.#live = copyOf(durable);
    this.#committedVersion = version;
    this.#durableVersion = version;
  }

  // What the platform does.

  /** Number of the last version that was written. */
  get committedVersion(): number {
    return this.#committedVersion;
  }

  get durableVersion(): number {
    return this.#durableVersion;
  }

  /** Makes versions up to `version` durable and lets go on what waited for them. Answers with them, oldest first. */
  sync(version: number): Version[] {
    const done: Version[] = [];
    for (let first = this.#pending[0]; first !== undefined; first = this.#pending[0]) {
      if (first.number > version) break;
      this.#pending.shift();
      for (const { table, key, after } of first.writes) put(this.#durable, table, key, after);
      this.#durableVersion = first.number;
      done.push(first);
    }
    return done;
  }

  /** Calls back what waits for nothing more than `durableVersion`. */
  releaseWaiters(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const waiter of waiters) {
      if (waiter.version <= this.#durableVersion) waiter.run();
      else this.#waiters.push(waiter);
    }
  }

  /** Runs `run` when everything written by now is durable: at once if it is. */
  whenDurable(run: () => void): void {
    if (this.#committedVersion === this.#durableVersion) run();
    else this.#waiters.push({ version: this.#committedVersion, run });
  }

  /** Ends this life. Whoever still holds its store reaches nothing any more; the next life begins with what is durable. */
  end(): Disk {
    this.#hasEnded = true;
    this.#waiters = [];
    const next = new Disk(this.#observer, this.#durable, this.#durableVersion);
    next.failWrites(this.#failFrom, this.#failCount);
    return next;
  }

  /** Drops what `SqliteStore.drop` does: who took what from whom stays, and the number of lives. Only when everything is durable. */
  drop(): void {
    for (const table of ["segments", "states", "outbox", "notes"] as const) {
      this.#durable[table].clear();
      this.#live[table].clear();
    }
    this.#durable.meta.delete("alarm");
    this.#live.meta.delete("alarm");
  }

  /** Lets `count` writes fail, after `after` more that succeed. */
  failWrites(after: number, count: number): void {
    this.#failFrom = after;
    this.#failCount = count;
  }

  repair(): void {
    this.failWrites(Infinity, 0);
  }

  get alarmAtMs(): number | null {
    return (this.#live.meta.get("alarm") as number | undefined) ?? null;
  }

  writeAlarm(atMs: number | null): void {
    if (this.#hasEnded) return;
    const write = this.#put("meta", "alarm", atMs ?? undefined);
    const last = this.#pending.at(-1);
    // The platform joins what is written without waiting in between: a commit and the alarm that follows it are one.
    if (last !== undefined && last.event === this.#observer.event()) last.writes.push(write);
    else this.#append([write], false);
  }

  /** The rows as they were last committed. */
  get segmentRows(): ReadonlyMap<number, SegmentRow> {
    return this.#live.segments;
  }

  get stateRows(): ReadonlyMap<number, Uint8Array> {
    return this.#live.states;
  }

  get durableSegmentCount(): number {
    return this.#durable.segments.size;
  }

  get durableOutbox(): ReadonlyMap<number, OutboxItem> {
    return this.#durable.outbox;
  }

  get durableAlarmAtMs(): number | null {
    return (this.#durable.meta.get("alarm") as number | undefined) ?? null;
  }

  // What the queue does.

  commit(write: () => void): void {
    this.#alive();
    if (this.#open !== null) throw new Error("a commit within a commit");
    const writes: Write[] = [];
    this.#open = writes;
    this.#emptied = 0;
    try {
      write();
    } catch (error) {
      for (const { table, key, before } of writes.reverse()) put(this.#live, table, key, before);
      throw error;
    } finally {
      this.#open = null;
    }
    this.#observer.committed(this.#append(writes, true));
  }

  synced(): Promise<void> {
    if (this.#hasEnded) return new Promise(() => {});
    return new Promise((resolve) => this.whenDurable(resolve));
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

  writeLife(epoch: number, name: string): void {
    this.#write("meta", "epoch", epoch);
    if (this.readName() !== name) this.#write("meta", "name", name);
  }

  *segments(): Iterable<StoredSegment> {
    this.#alive();
    const { segments, states } = this.#live;
    for (const [id, { index, state }] of [...segments].sort(([a], [b]) => a - b)) {
      this.rowsRead += 1;
      yield { id, index: index.slice(), state: (states.get(id) ?? state)?.slice() ?? null };
    }
  }

  readPayload(id: number): Uint8Array | null {
    this.#alive();
    this.rowsRead += 1;
    return this.#live.segments.get(id)?.payload.slice() ?? null;
  }

  insertSegment(id: number, index: Uint8Array, state: Uint8Array | null, payload: Uint8Array): void {
    if (this.#live.segments.has(id)) throw new Error(`UNIQUE constraint failed: segment ${id}`);
    const row = { index: index.slice(), state: state?.slice() ?? null, payload: payload.slice() };
    this.#write("segments", id, row);
    // It takes the place of one that goes with the same commit: that row is written once.
    if (this.#emptied === 0) return;
    this.#emptied -= 1;
    this.rowsWritten -= 1;
  }

  replaceSegment(id: number, index: Uint8Array, payload: Uint8Array): void {
    const row = this.#live.segments.get(id);
    if (row === undefined) return;
    this.#write("segments", id, { ...row, index: index.slice(), payload: payload.slice() });
  }

  writeIndex(id: number, index: Uint8Array): void {
    const row = this.#live.segments.get(id);
    if (row !== undefined) this.#write("segments", id, { ...row, index: index.slice() });
  }

  writeState(id: number, state: Uint8Array): void {
    this.#write("states", id, state.slice());
  }

  deleteSegment(id: number, hasState: boolean): void {
    if (this.#live.segments.has(id)) this.#emptied += 1;
    this.#write("segments", id, undefined);
    if (hasState) this.#write("states", id, undefined);
  }

  outbox(): readonly OutboxItem[] {
    this.#alive();
    return [...this.#live.outbox.values()].sort((a, b) => a.id - b.id);
  }

  insertOutbox(item: OutboxItem): void {
    if (this.#live.outbox.has(item.id)) throw new Error(`UNIQUE constraint failed: outbox ${item.id}`);
    this.#write("outbox", item.id, { ...item, payload: item.payload.slice() });
  }

  deleteOutbox(ids: readonly number[]): void {
    for (const id of ids) this.#write("outbox", id, undefined);
  }

  readInbox(source: string): number {
    this.#alive();
    return this.#live.inbox.get(source) ?? 0;
  }

  writeInbox(source: string, lastId: number): void {
    this.#write("inbox", source, lastId);
  }

  notes(): Note[] {
    this.#alive();
    const { notes } = this.#live;
    return [...notes.keys()]
      .sort()
      .map((key) => ({ key, bytes: notes.get(key)?.slice() ?? new Uint8Array() }));
  }

  writeNote(key: string, bytes: Uint8Array | null): void {
    this.#write("notes", key, bytes?.slice());
  }

  #meta(key: string): number | string | undefined {
    this.#alive();
    return this.#live.meta.get(key);
  }

  #write(table: keyof Tables, key: number | string, after: unknown): void {
    this.#alive();
    if (this.#open === null) throw new Error("a write outside a commit");
    this.#failFrom -= 1;
    if (this.#failFrom < 0 && this.#failCount > 0) {
      this.#failCount -= 1;
      throw new DiskFullError("database or disk is full");
    }
    this.rowsWritten += 1;
    this.#open.push(this.#put(table, key, after));
  }

  #put(table: keyof Tables, key: number | string, after: unknown): Write {
    return { table, key, before: put(this.#live, table, key, after), after };
  }

  #append(writes: Write[], isCommit: boolean): Version {
    const event = this.#observer.event();
    const version = { number: this.#committedVersion + 1, event, writes, isCommit };
    this.#committedVersion = version.number;
    this.#pending.push(version);
    this.#observer.unsynced();
    return version;
  }

  #alive(): void {
    if (this.#hasEnded) throw new Error("this life of the store has ended");
  }
}

/** Sets a row, or deletes it for `undefined`; answers with what was there. */
function put(tables: Tables, table: keyof Tables, key: number | string, value: unknown): unknown {
  const rows = tables[table] as Map<number | string, unknown>;
  const before = rows.get(key);
  if (value === undefined) rows.delete(key);
  else rows.set(key, value);
  return before;
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
