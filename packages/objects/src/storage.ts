import type { Alarms } from "./alarms.ts";
import { Database, type SqlValue } from "./database.ts";
import { Sql } from "./sql.ts";

/** Key of the alarm in workerd's own table. */
const ALARM_KEY = 1;
const NS_PER_MS = 1_000_000n;

/** What a storage belongs to. */
export interface StorageOwner {
  readonly id: string;
  readonly name: string | null;
  /** Where the namespace's alarms are. */
  readonly alarms: Alarms;
  /** What was written could not be committed, and nothing of it is kept. */
  lost(error: unknown): void;
}

/** A commit that is under way: everything that was written since the last one, in one turn of the event loop. */
type Commit = PromiseWithResolvers<void>;

/** What an object gets that has ended: it runs on for a while, and changes nothing any more. */
export class LifeEndedError extends Error {
  override readonly name = "LifeEndedError";
}

/**
 * `ctx.storage` of an object. What it writes in one go is one transaction, begun by the first write and committed, which
 * includes a sync of the file, as soon as the code that runs has run.
 */
export class Storage {
  readonly sql: Sql;
  readonly #database: Database;
  readonly #owner: StorageOwner;
  #commit: Commit | null = null;
  #isOver = false;
  /** As the object has set it, in ms since 1970; not committed yet, maybe. */
  #alarmMs: number | null;
  /** Whether it rings just now: the object sees none until it sets another. */
  #isRinging = false;

  /** @param file of the object. Throws `SqliteError` for one that is no database. */
  constructor(file: string, owner: StorageOwner) {
    this.#owner = owner;
    this.#database = new Database(file);
    this.sql = new Sql(this.#database, () => this.#willWrite());
    try {
      this.#alarmMs = this.#readAlarm();
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  /** Runs `write`: all that it writes or, if it throws, nothing. */
  transactionSync<Result>(write: () => Result): Result {
    this.#willWrite();
    this.#database.run("SAVEPOINT sluice");
    try {
      const result = write();
      this.#database.run("RELEASE sluice");
      return result;
    } catch (error) {
      // Without room SQLite may have ended the whole transaction, and with it what was written before.
      if (this.#database.isInTransaction) {
        this.#database.run("ROLLBACK TO sluice");
        this.#database.run("RELEASE sluice");
      } else this.#lose(error);
      throw error;
    }
  }

  /** Resolves when everything written is durable; never in a life that is over. */
  sync(): Promise<void> {
    if (this.#isOver) return NEVER;
    return this.#commit?.promise ?? Promise.resolve();
  }

  /** The same, `null` where nothing waits to be committed. */
  get uncommitted(): Promise<void> | null {
    return this.#commit?.promise ?? null;
  }

  async getAlarm(): Promise<number | null> {
    if (this.#isOver) return NEVER;
    return this.#isRinging ? null : this.#alarmMs;
  }

  /** @param at in ms since 1970. */
  async setAlarm(at: number | Date): Promise<void> {
    if (this.#isOver) return NEVER;
    this.#isRinging = false;
    this.#writeAlarm(Number(at));
  }

  async deleteAlarm(): Promise<void> {
    if (this.#isOver) return NEVER;
    this.#isRinging = false;
    if (this.#alarmMs !== null) this.#writeAlarm(null);
  }

  /** Whether the alarm is due. One that is not, is set to its time. */
  beginRing(nowMs: number): boolean {
    const { alarms, id, name } = this.#owner;
    if (this.#alarmMs === null || this.#alarmMs > nowMs) {
      alarms.set(id, name, this.#alarmMs);
      return false;
    }
    this.#isRinging = true;
    return true;
  }

  /** The alarm was heard. If no other was set meanwhile, there is none now. */
  endRing(): void {
    if (this.#isOver || !this.#isRinging) return;
    this.#isRinging = false;
    this.#writeAlarm(null);
  }

  /** Nothing is written or read any more. What was not committed is lost, unless it is now. */
  end(keeps: boolean): void {
    if (this.#isOver) return;
    const commit = this.#commit;
    if (keeps) this.#commitNow();
    this.#isOver = true;
    this.#commit = null;
    commit?.promise.catch(() => undefined);
    commit?.reject(new LifeEndedError("the object has ended"));
    try {
      this.#database.close();
    } catch {
      // There is no room to put the log into the file, for instance. The next life reads both.
    }
  }

  #willWrite(): void {
    if (this.#isOver) throw new LifeEndedError("the object has ended, and is started again by the next call");
    if (this.#commit !== null) return;
    this.#database.run("BEGIN");
    const commit = Promise.withResolvers<void>();
    // Who waits for it is told; it may be nobody.
    commit.promise.catch(() => undefined);
    this.#commit = commit;
    process.nextTick(() => {
      if (this.#commit === commit) this.#commitNow();
    });
  }

  #commitNow(): void {
    const commit = this.#commit;
    if (commit === null) return;
    const { alarms, id, name } = this.#owner;
    const alarmMs = this.#alarmMs;
    const setMs = alarms.at(id);
    try {
      // The file of all alarms never says later than the object's own: an alarm that comes too early does no harm.
      if (alarmMs !== null && (setMs === null || alarmMs < setMs)) alarms.set(id, name, alarmMs);
      this.#database.run("COMMIT");
      if (alarmMs !== setMs) alarms.set(id, name, alarmMs);
    } catch (error) {
      this.#lose(error);
      return;
    }
    this.#commit = null;
    commit.resolve();
  }

  #lose(error: unknown): void {
    const commit = this.#commit;
    this.#commit = null;
    commit?.reject(error);
    this.#owner.lost(error);
  }

  #readAlarm(): number | null {
    if (this.#database.all("SELECT 1 FROM sqlite_master WHERE name = '_cf_METADATA'").length === 0)
      return null;
    const [row] = this.#database.all(
      "SELECT value / 1000000 AS at_ms FROM _cf_METADATA WHERE key = ? AND value IS NOT NULL",
      ALARM_KEY,
    );
    return row === undefined ? null : Number(row.at_ms);
  }

  #writeAlarm(atMs: number | null): void {
    this.#write("CREATE TABLE IF NOT EXISTS _cf_METADATA (key INTEGER PRIMARY KEY, value BLOB)");
    const value = atMs === null ? null : BigInt(Math.round(atMs)) * NS_PER_MS;
    this.#write("INSERT OR REPLACE INTO _cf_METADATA VALUES (?, ?)", ALARM_KEY, value);
    this.#alarmMs = atMs === null ? null : Math.round(atMs);
  }

  #write(sql: string, ...bindings: readonly SqlValue[]): void {
    this.#willWrite();
    this.#database.run(sql, ...bindings);
  }
}

/** A life that is over hears of nothing any more. */
const NEVER = new Promise<never>(() => {});
