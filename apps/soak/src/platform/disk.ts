import {
  Database,
  IN_MEMORY,
  InstanceEndedError,
  type InstanceStorage,
  never,
  Sql,
  type SqlValue,
  type Written,
} from "@sluice/objects/parts";

/** Writes that become durable together. */
export interface Version {
  readonly number: number;
  /** Event of the history in which it was written: later writes of the same event belong to the same version. */
  readonly event: number;
  /** Meaning of the version, for the ledger. */
  readonly notes: unknown[];
  /** When the alarm rings as of it, in ms; `null` if it is not set. */
  alarmAtMs: number | null;
}

/** Error that a write on a full disk throws. */
export class DiskFullError extends Error {
  override readonly name = "DiskFullError";
}

export interface DiskObserver {
  /** Number of the running event. */
  event(): number;
  /** A version has begun that has to be made durable. */
  unsynced(): void;
}

/**
 * The database of an object, in which a commit and its durability are two steps. A crash takes versions back that are
 * not durable, each as a whole. Each version is a savepoint of SQLite within the one before.
 */
export class Disk {
  readonly database = new Database(IN_MEMORY);
  alarmAtMs: number | null = null;
  readonly #observer: DiskObserver;
  #pending: Version[] = [];
  /** Number of writes and of versions taken back. */
  changes = 0;
  /** Open savepoints of SQLite. Those of durable versions are released when all versions are durable. */
  #savepoints = 0;
  #committedVersion = 0;
  #durableVersion = 0;
  #durableAlarmAtMs: number | null = null;
  #waiters: { readonly version: number; readonly run: () => void }[] = [];
  #failFrom = Infinity;
  #failCount = 0;

  constructor(observer: DiskObserver) {
    this.#observer = observer;
  }

  /** Number of the last version that was written. */
  get committedVersion(): number {
    return this.#committedVersion;
  }

  get durableVersion(): number {
    return this.#durableVersion;
  }

  get isSynced(): boolean {
    return this.#committedVersion === this.#durableVersion;
  }

  /** Begins a version of its own: what is written from now on in this event belongs to it. */
  begin(): Version {
    for (; this.isSynced && this.#savepoints > 0; this.#savepoints--) this.database.run("RELEASE v");
    this.database.run("SAVEPOINT v");
    this.#savepoints += 1;
    this.#committedVersion += 1;
    const { alarmAtMs } = this;
    const version = { number: this.#committedVersion, event: this.#observer.event(), notes: [], alarmAtMs };
    this.#pending.push(version);
    this.#observer.unsynced();
    return version;
  }

  /** Takes the last version back, whose writes have failed. */
  abandon(): void {
    this.#pending.pop();
    this.#takeBack();
  }

  /**
   * Version of writes that are made now. The platform joins writes without a wait in between, such as a commit and the
   * alarm after it.
   */
  get current(): Version {
    const last = this.#pending.at(-1);
    return last?.event === this.#observer.event() ? last : this.begin();
  }

  write(sql: string, values: readonly SqlValue[]): Written {
    this.current;
    this.changes += 1;
    return this.database.write(sql, values);
  }

  /** Counts a write that may find the disk full. Throws a `DiskFullError` if it does. */
  spend(): void {
    this.#failFrom -= 1;
    if (this.#failFrom >= 0 || this.#failCount === 0) return;
    this.#failCount -= 1;
    throw new DiskFullError("database or disk is full");
  }

  setAlarm(atMs: number | null): void {
    this.current.alarmAtMs = atMs;
    this.alarmAtMs = atMs;
  }

  /** Makes versions up to `version` durable. Returns them, oldest first. */
  sync(version: number): Version[] {
    const done: Version[] = [];
    for (let first = this.#pending[0]; first !== undefined; first = this.#pending[0]) {
      if (first.number > version) break;
      this.#pending.shift();
      this.#durableVersion = first.number;
      this.#durableAlarmAtMs = first.alarmAtMs;
      done.push(first);
    }
    return done;
  }

  /** Runs the waiters whose versions are durable. */
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
    if (this.isSynced) run();
    else this.#waiters.push({ version: this.#committedVersion, run });
  }

  /** Takes back the versions that are not durable, and removes all waiters. */
  crash(): void {
    this.#waiters = [];
    for (; this.#pending.length > 0; this.#pending.pop()) this.#takeBack();
    this.alarmAtMs = this.#durableAlarmAtMs;
  }

  /** Lets `count` calls of `spend` fail, after `after` more that succeed. */
  failWrites(after: number, count: number): void {
    this.#failFrom = after;
    this.#failCount = count;
  }

  #takeBack(): void {
    this.changes += 1;
    this.database.run("ROLLBACK TO v");
    this.database.run("RELEASE v");
    this.#savepoints -= 1;
    this.#committedVersion -= 1;
  }
}

const NOTHING: Written = { changes: 0, rows: [] };

/** `ctx.storage.sql` of an object; throws once the object has ended. */
class SimulatedSql extends Sql {
  readonly #storage: { readonly isOver: boolean };

  constructor(
    disk: Disk,
    storage: { readonly isOver: boolean },
    writes: NonNullable<StoragePorts["writes"]>,
  ) {
    super(disk.database, (sql, values) => (writes(sql, values) ? disk.write(sql, values) : NOTHING));
    this.#storage = storage;
  }

  override exec(sql: string, ...values: readonly SqlValue[]) {
    if (this.#storage.isOver) throw new InstanceEndedError("the object's instance has ended");
    return super.exec(sql, ...values);
  }
}

export interface StoragePorts {
  /** Time of the alarms' clock, in ms. */
  now(): number;
  alarmChanged(): void;
  /** Called before each write. Returns whether the write is made. Default: it is. */
  writes?(sql: string, values: readonly SqlValue[]): boolean;
  /** Whether each transaction may find the disk full. */
  readonly mayFail: boolean;
}

/** `ctx.storage` of an object from its start to its end, on its disk. */
export class SimulatedStorage implements InstanceStorage {
  readonly sql: Sql;
  isOver = false;
  /** Whether the alarm that rings is the one that is set: that one is deleted once it was handled. */
  isRingSet = true;
  /** Planted mistake: whether answers and calls leave before the writes are durable. */
  gateIsOpen = false;
  readonly #disk: Disk;
  readonly #ports: StoragePorts;
  #isRinging = false;

  constructor(disk: Disk, ports: StoragePorts) {
    this.#disk = disk;
    this.#ports = ports;
    this.sql = new SimulatedSql(disk, this, ports.writes ?? (() => true));
  }

  transactionSync<Result>(write: () => Result): Result {
    if (this.isOver) throw new InstanceEndedError("the object's instance has ended");
    const { database, current } = this.#disk;
    const { alarmAtMs } = current;
    database.run("SAVEPOINT t");
    try {
      if (this.#ports.mayFail) this.#disk.spend();
      const result = write();
      database.run("RELEASE t");
      return result;
    } catch (error) {
      database.run("ROLLBACK TO t");
      database.run("RELEASE t");
      if (!this.isOver && this.#disk.alarmAtMs !== alarmAtMs) void this.#change(alarmAtMs);
      throw error;
    }
  }

  sync(): Promise<void> {
    if (this.isOver) return never();
    return new Promise((resolve) => this.whenDurable(resolve));
  }

  whenDurable(then: () => void): void {
    if (this.isOver) return;
    if (this.gateIsOpen) {
      then();
      return;
    }
    this.#disk.whenDurable(() => {
      if (!this.isOver) then();
    });
  }

  getAlarm(): Promise<number | null> {
    if (this.isOver) return never();
    return Promise.resolve(this.#isRinging ? null : this.#disk.alarmAtMs);
  }

  setAlarm(at: number | Date): Promise<void> {
    return this.#change(Math.max(Number(at), this.#ports.now()));
  }

  deleteAlarm(): Promise<void> {
    return this.#change(null);
  }

  beginRing(): boolean {
    this.#isRinging = this.isRingSet;
    return true;
  }

  endRing(): void {
    if (this.#isRinging) void this.#change(null);
  }

  failRing(): void {
    this.#isRinging = false;
  }

  close(): void {}

  closeForLong(): void {}

  end(): void {
    this.isOver = true;
  }

  #change(atMs: number | null): Promise<void> {
    if (this.isOver) return never();
    if (Number.isNaN(atMs)) return Promise.reject(new TypeError("an alarm is set to no moment"));
    this.#isRinging = false;
    this.#disk.setAlarm(atMs);
    this.#ports.alarmChanged();
    return Promise.resolve();
  }
}
