import type { AlarmIndex } from "../alarms/alarm-index.ts";
import { alarmMsOf, readAlarm, writeAlarm } from "../alarms/own-alarm.ts";
import { InstanceEndedError, never } from "../instance-ended.ts";
import { Database, type SqlValue, type Written } from "../sqlite/database.ts";
import type { Room } from "../sqlite/room.ts";
import { Sql } from "../sqlite/sql.ts";
import { SqliteError } from "../sqlite/sqlite-error.ts";

/**
 * Longest that commits follow each other without a round of the event loop, in ms. An object may write again as soon as
 * its commit is done, and neither promises nor `process.nextTick` let timers and sockets run in between.
 */
export const TURN_MS_MAX = 10;

/** Object that a storage belongs to. */
export interface StorageOwner {
  readonly id: string;
  readonly name: string | null;
  /** Index of the namespace's alarms. */
  readonly alarms: AlarmIndex;
  readonly room: Room;
  /** Returns the time by which alarms ring, in ms since 1970. */
  now(): number;
  /** Called with the error when the writes since the last commit are lost. */
  lost(error: unknown): void;
}

/** The transaction since the last commit. */
interface Uncommitted {
  /** Callbacks of code that waits for it: `then` when it is durable, `failed` when it is lost. */
  readonly waiting: { readonly then: () => void; readonly failed: (error: unknown) => void }[];
}

/**
 * Alarm that the object has set, in ms since 1970, and whether it is ringing: `getAlarm` returns `null` then, until the
 * object sets another one.
 */
interface AlarmState {
  readonly atMs: number | null;
  readonly isRinging: boolean;
}

/**
 * `ctx.storage` of an object. All writes of a turn of the event loop, its settled promises included, are one
 * transaction. The first write begins it, and it is committed and synced as soon as the running code is done.
 */
export class Storage {
  readonly sql: Sql;
  readonly #database: Database;
  readonly #owner: StorageOwner;
  #uncommitted: Uncommitted | null = null;
  #isOver = false;
  #alarm: AlarmState;

  /** @param file file of the object. @throws SqliteError for a file that is no database. */
  constructor(file: string, owner: StorageOwner) {
    this.#owner = owner;
    this.#database = new Database(file, owner.room);
    this.sql = new Sql(this.#database, (sql, values) => this.#write(sql, values));
    try {
      this.#alarm = { atMs: readAlarm(this.#database), isRinging: false };
    } catch (error) {
      this.#database.close();
      throw error;
    }
    const { alarms, id, name } = owner;
    // A crash between the two commits, or the loss of the index's file, makes them differ.
    if (alarms.at(id) !== this.#alarm.atMs) alarms.committed(id, name, this.#alarm.atMs);
  }

  /** Whether its instance has ended. Workers have no such property: no code of an ended instance runs there. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Runs `write`. If it throws, nothing of what it wrote is kept. */
  transactionSync<Result>(write: () => Result): Result {
    const alarm = this.#alarm;
    const isFirst = this.#uncommitted === null;
    this.#begin();
    if (!isFirst) this.#database.run("SAVEPOINT sluice");
    let result: Result;
    try {
      result = write();
      if (this.#isOver) throw new InstanceEndedError("the object's instance has ended in its transaction");
      if (!isFirst) this.#database.run("RELEASE sluice");
    } catch (error) {
      if (!this.#isOver) this.#rollBack(isFirst, alarm, error);
      throw error;
    }
    return result;
  }

  /** Resolves when all writes are durable; never in an instance that has ended. */
  sync(): Promise<void> {
    if (this.#isOver) return never();
    const durable = new Promise<void>((resolve, reject) => this.whenDurable(resolve, reject));
    // A failed commit ends the object, whether or not this promise is awaited.
    durable.catch(() => undefined);
    return durable;
  }

  /** Calls `then` when all writes are durable, at once if they are. Calls nothing after the end of the instance. */
  whenDurable(then: () => void, failed: (error: unknown) => void): void {
    if (this.#isOver) return;
    if (this.#uncommitted === null) then();
    else this.#uncommitted.waiting.push({ then, failed });
  }

  getAlarm(): Promise<number | null> {
    if (this.#isOver) return never();
    return Promise.resolve(this.#alarm.isRinging ? null : this.#alarm.atMs);
  }

  /**
   * @param at time in ms since 1970. One that is past rings at once.
   * @throws TypeError for an invalid date.
   */
  setAlarm(at: number | Date): Promise<void> {
    return this.#changeAlarm(() => {
      const atMs = alarmMsOf(at, this.#owner.now());
      writeAlarm(atMs, (sql, values) => void this.#write(sql, values));
      this.#alarm = { atMs, isRinging: false };
    });
  }

  deleteAlarm(): Promise<void> {
    return this.#changeAlarm(() => {
      if (this.#alarm.atMs !== null) writeAlarm(null, (sql, values) => void this.#write(sql, values));
      this.#alarm = { atMs: null, isRinging: false };
    });
  }

  /** Begins to ring and returns `true` if the alarm is due. If it is not, the index gets its time. */
  beginRing(nowMs: number): boolean {
    const { alarms, id, name } = this.#owner;
    const { atMs } = this.#alarm;
    if (atMs !== null && atMs <= nowMs) {
      this.#alarm = { atMs, isRinging: true };
      return true;
    }
    // The next commit updates the index by itself.
    if (this.#uncommitted === null) alarms.committed(id, name, atMs);
    return false;
  }

  /** Ends a ring. The alarm is deleted, unless the object has set another one meanwhile. */
  endRing(): void {
    if (this.#alarm.isRinging) void this.deleteAlarm();
  }

  /** Ends a ring that has failed. The alarm stays set, or the one that the object has set meanwhile. */
  failRing(): void {
    this.#alarm = { atMs: this.#alarm.atMs, isRinging: false };
  }

  /** Commits all writes, and ends. */
  close(): void {
    this.#commit();
    this.end();
  }

  /** Commits all writes, shrinks the file, and ends: for an object that may not run for long. */
  closeForLong(): void {
    this.#commit();
    try {
      if (!this.#isOver) this.#database.shrink();
    } catch {
      // There is no room for the copy.
    }
    this.end();
  }

  /** Ends all reads and writes. Uncommitted writes are lost. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#uncommitted = null;
    try {
      if (this.#database.isInTransaction) this.#database.run("ROLLBACK");
    } catch {
      // Closing the file rolls back what this could not.
    }
    try {
      this.#database.close();
    } catch {
      // There may be no room to copy the write-ahead log into the file. The next instance reads both.
    }
  }

  #begin(): void {
    if (this.#uncommitted !== null) return;
    this.#database.run("BEGIN");
    const uncommitted: Uncommitted = { waiting: [] };
    this.#uncommitted = uncommitted;
    const commit = () => {
      if (this.#uncommitted === uncommitted) this.#commit();
    };
    if (isLongTurn()) setImmediate(commit);
    // Node.js runs `nextTick` callbacks before the promises of a timer or socket, and after those of a promise. From a
    // microtask, this one runs after all promises, whatever the turn began with, as on the platform.
    else queueMicrotask(() => process.nextTick(commit));
  }

  #write(sql: string, values: readonly SqlValue[]): Written {
    this.#begin();
    try {
      return this.#database.write(sql, values);
    } catch (error) {
      // On a full disk SQLite may have rolled back the whole transaction, with the earlier writes.
      if (!this.#isOver && !this.#database.isInTransaction) this.#lose(error);
      throw error;
    }
  }

  #rollBack(isFirst: boolean, alarm: AlarmState, error: unknown): void {
    if (!this.#database.isInTransaction) {
      this.#lose(error);
      return;
    }
    try {
      if (isFirst) {
        this.#database.run("ROLLBACK");
        this.#durable();
      } else {
        this.#database.run("ROLLBACK TO sluice");
        this.#database.run("RELEASE sluice");
      }
      this.#alarm = alarm;
    } catch (failure) {
      this.#lose(failure);
    }
  }

  #commit(): void {
    if (this.#uncommitted === null) return;
    const { alarms, id, name } = this.#owner;
    const { atMs, isRinging } = this.#alarm;
    try {
      if (atMs !== null && !isRinging) alarms.willCommit(id, name, atMs);
      this.#database.run("COMMIT");
    } catch (error) {
      this.#lose(error);
      return;
    }
    if (!isRinging) alarms.committed(id, name, atMs);
    this.#durable();
  }

  #durable(): void {
    const waiting = this.#uncommitted?.waiting ?? [];
    this.#uncommitted = null;
    for (const { then } of waiting) then();
  }

  #lose(error: unknown): void {
    const waiting = this.#uncommitted?.waiting ?? [];
    this.#uncommitted = null;
    for (const { failed } of waiting) failed(error);
    this.#owner.lost(error);
  }

  /**
   * Changes the alarm. An object may not await the promise, so a failed write ends the instance: otherwise its alarm
   * could be lost unnoticed.
   */
  #changeAlarm(change: () => void): Promise<void> {
    if (this.#isOver) return never();
    try {
      change();
      return Promise.resolve();
    } catch (error) {
      if (error instanceof SqliteError && !this.#isOver) this.#lose(error);
      const failed = Promise.reject(error);
      if (error instanceof SqliteError) failed.catch(() => undefined);
      return failed;
    }
  }
}

/** Time of the first write in this round of the event loop; `null` before it. */
let beganMs: number | null = null;

/** Whether this round of the event loop has made commits for longer than `TURN_MS_MAX`. */
function isLongTurn(): boolean {
  const nowMs = performance.now();
  if (beganMs === null) {
    beganMs = nowMs;
    setImmediate(() => {
      beganMs = null;
    });
    return false;
  }
  return nowMs - beganMs > TURN_MS_MAX;
}
