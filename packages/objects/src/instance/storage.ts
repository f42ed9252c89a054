import type { AlarmIndex } from "../alarms/alarm-index.ts";
import { alarmMsOf, readAlarm, writeAlarm } from "../alarms/own-alarm.ts";
import { InstanceEndedError, never } from "../instance-ended.ts";
import { Database, type SqlValue, type Written } from "../sqlite/database.ts";
import type { Room } from "../sqlite/room.ts";
import { Sql } from "../sqlite/sql.ts";
import { SqliteError } from "../sqlite/sqlite-error.ts";

/**
 * Longest that commits are made one after the other before the event loop goes on, in ms. What an object does when its
 * commit is made may be the next write, and neither promises nor `process.nextTick` let timers and sockets have their
 * turn in between.
 */
export const TURN_MS_MAX = 10;

/** Object that a storage belongs to. */
export interface StorageOwner {
  readonly id: string;
  readonly name: string | null;
  /** Where the namespace's alarms are. */
  readonly alarms: AlarmIndex;
  readonly room: Room;
  /** The time that alarms go by, in ms since 1970. */
  now(): number;
  /** Takes the error of a commit that failed: nothing of what was written is kept. */
  lost(error: unknown): void;
}

/** Everything that was written since the last commit. */
interface Uncommitted {
  /** Callbacks of those who wait: `then` when it is durable, `failed` when it never will be. */
  readonly waiting: { readonly then: () => void; readonly failed: (error: unknown) => void }[];
}

/**
 * The alarm as the object has set it, in ms since 1970, and whether it rings just now: the object sees none until it
 * sets one.
 */
interface AlarmState {
  readonly atMs: number | null;
  readonly isRinging: boolean;
}

/**
 * `ctx.storage` of an object. What it writes in a turn of the event loop, with all promises that are settled in it, is
 * one transaction: begun by the first write and committed, which includes a sync of the file, as soon as the code that
 * runs has run.
 */
export class Storage {
  readonly sql: Sql;
  readonly #database: Database;
  readonly #owner: StorageOwner;
  #uncommitted: Uncommitted | null = null;
  #isOver = false;
  #alarm: AlarmState;

  /** @param file of the object. Throws `SqliteError` for one that is no database. */
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
    // A crash can have come between the two commits, or somebody have lost the file of all alarms.
    if (alarms.at(id) !== this.#alarm.atMs) alarms.committed(id, name, this.#alarm.atMs);
  }

  /** Whether its instance has ended. Workers have nothing like it: there no code of such an instance runs. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Runs `write`: all that it writes or, if it throws, nothing. */
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

  /** Resolves when everything written is durable; never in an instance that has ended. */
  sync(): Promise<void> {
    if (this.#isOver) return never();
    const durable = new Promise<void>((resolve, reject) => this.whenDurable(resolve, reject));
    // The object ends when a commit fails, whether or not anybody listens here.
    durable.catch(() => undefined);
    return durable;
  }

  /** Calls `then` when everything written is durable, at once if it is. After the end it calls nothing. */
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
   * @param at in ms since 1970. What is past rings at once.
   * @throws TypeError for what is no moment.
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

  /** Whether the alarm is due, and rings from now on. The index is told of one that is not. */
  beginRing(nowMs: number): boolean {
    const { alarms, id, name } = this.#owner;
    const { atMs } = this.#alarm;
    if (atMs !== null && atMs <= nowMs) {
      this.#alarm = { atMs, isRinging: true };
      return true;
    }
    // What is not committed yet tells the index itself.
    if (this.#uncommitted === null) alarms.committed(id, name, atMs);
    return false;
  }

  /** The alarm was heard. If no other was set meanwhile, there is none now. */
  endRing(): void {
    if (this.#alarm.isRinging) void this.deleteAlarm();
  }

  /** The alarm was not heard: it is set as before, if no other was set meanwhile. */
  failRing(): void {
    this.#alarm = { atMs: this.#alarm.atMs, isRinging: false };
  }

  /** Commits what is written, and ends. Throws what keeps it from that. */
  close(): void {
    this.#commit();
    this.end();
  }

  /** The same for what may stay as it is for long: its file is no larger than it need be. */
  closeForLong(): void {
    this.#commit();
    try {
      if (!this.#isOver) this.#database.shrink();
    } catch {
      // There is no room for the copy.
    }
    this.end();
  }

  /** Nothing is written or read any more. What was not committed is lost. */
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
      // There is no room to put the log into the file, for instance. The next instance reads both.
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
    // Node.js runs what waits for its next tick before the promises of a timer or a socket, and after those of a
    // promise: from one of them it is behind all, whatever the turn began with, as on the platform.
    else queueMicrotask(() => process.nextTick(commit));
  }

  #write(sql: string, values: readonly SqlValue[]): Written {
    this.#begin();
    try {
      return this.#database.write(sql, values);
    } catch (error) {
      // Without room SQLite may have ended the whole transaction, and with it what was written before.
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
   * Nobody may await the alarm's promise: where it cannot be written the object starts again, and nothing sleeps on
   * unseen.
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

let beganMs: number | null = null;

/** Whether commits were made for that long in this round of the event loop. */
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
