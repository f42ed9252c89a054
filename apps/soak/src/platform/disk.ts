import {
  emptyTables,
  putRow,
  type SegmentRow,
  TableStore,
  type Tables,
  type Write,
} from "@sluice/broker/testing/table-store";
import type { QueueRecord } from "@sluice/protocol";

/** Writes that become durable together. */
export interface Version {
  readonly number: number;
  /** Event of the history in which it was written: what is written in the same one, becomes durable with it. */
  readonly event: number;
  readonly writes: Write[];
  /** Whether it is a commit of the queue, not an alarm alone. */
  readonly isCommit: boolean;
}

/** Error that a write on a full disk throws. */
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
 * The store of one epoch of a queue, with the boundary at which things go wrong: what is committed is not durable yet,
 * and a crash keeps as many of the last commits as the scheduler says, none of them by half.
 */
export class Disk extends TableStore {
  readonly #observer: DiskObserver;
  readonly #durable: Tables;
  readonly #pending: Version[] = [];
  #committedVersion: number;
  #durableVersion: number;
  #waiters: { readonly version: number; readonly run: () => void }[] = [];
  #failFrom = Infinity;
  #failCount = 0;

  constructor(observer: DiskObserver, durable: Tables = emptyTables(), version = 0) {
    super(durable);
    this.#observer = observer;
    this.#durable = durable;
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
      for (const { table, key, after } of first.writes) putRow(this.#durable, table, key, after);
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

  /**
   * Ends this epoch. Whoever still holds its store reaches nothing any more; the next epoch begins with what is
   * durable.
   */
  end(): Disk {
    this.hasEnded = true;
    this.#waiters = [];
    const next = new Disk(this.#observer, this.#durable, this.#durableVersion);
    next.failWrites(this.#failFrom, this.#failCount);
    return next;
  }

  /** Reads the record of the queue that the directory sent last, as far as that was written. */
  readRecord(): QueueRecord | null {
    const text = this.meta("record");
    return typeof text === "string" ? (JSON.parse(text) as QueueRecord) : null;
  }

  /** The same as a crash would leave it. */
  get durableRecord(): QueueRecord | null {
    const text = this.#durable.meta.get("record");
    return typeof text === "string" ? (JSON.parse(text) as QueueRecord) : null;
  }

  writeRecord(record: QueueRecord): void {
    this.write("meta", "record", JSON.stringify(record));
  }

  /**
   * Drops what `SqliteStore.drop` does: who took what from whom stays, and the number of epochs. Only when everything
   * is durable.
   */
  drop(): void {
    for (const table of ["segments", "states", "outbox", "notes", "journal"] as const) {
      this.#durable[table].clear();
      this.tables[table].clear();
    }
    this.#durable.meta.delete("record");
    this.tables.meta.delete("record");
  }

  /** The platform forgets the alarm. Only when everything is durable. */
  deleteAlarm(): void {
    this.#durable.meta.delete("alarm");
    this.tables.meta.delete("alarm");
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
    return (this.tables.meta.get("alarm") as number | undefined) ?? null;
  }

  writeAlarm(atMs: number | null): void {
    if (this.hasEnded) return;
    const write = this.put("meta", "alarm", atMs ?? undefined);
    const last = this.#pending.at(-1);
    // The platform joins what is written without waiting in between: a commit and the alarm that follows it are one.
    if (last !== undefined && last.event === this.#observer.event()) last.writes.push(write);
    else this.#append([write], false);
  }

  /** The rows as they were last committed. */
  get segmentRows(): ReadonlyMap<number, SegmentRow> {
    return this.tables.segments;
  }

  get stateRows(): ReadonlyMap<number, Uint8Array> {
    return this.tables.states;
  }

  get durableAlarmAtMs(): number | null {
    return (this.#durable.meta.get("alarm") as number | undefined) ?? null;
  }

  // What the queue does.

  synced(): Promise<void> {
    if (this.hasEnded) return new Promise(() => {});
    return new Promise((resolve) => this.whenDurable(resolve));
  }

  protected override committed(writes: Write[]): void {
    this.#observer.committed(this.#append(writes, true));
  }

  protected override beforeWrite(): void {
    this.#failFrom -= 1;
    if (this.#failFrom < 0 && this.#failCount > 0) {
      this.#failCount -= 1;
      throw new DiskFullError("database or disk is full");
    }
  }

  #append(writes: Write[], isCommit: boolean): Version {
    const event = this.#observer.event();
    const version = { number: this.#committedVersion + 1, event, writes, isCommit };
    this.#committedVersion = version.number;
    this.#pending.push(version);
    this.#observer.unsynced();
    return version;
  }
}
