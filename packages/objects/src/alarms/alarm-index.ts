import type { Database } from "../sqlite/database.ts";
import type { Room } from "../sqlite/room.ts";
import { openIndex } from "./index-file.ts";
import { NS_PER_MS } from "./own-alarm.ts";

/**
 * Longest that a timer waits before the clock is read again, in ms: timers do not notice that a computer slept or that
 * its clock was set. (No timer of Node.js waits longer than 2^31 ms, in any case.)
 */
export const LOOK_AGAIN_MS = 60_000;

/** Rings the alarm of an object. `name` is `null` where the object's name is not known: the index may lack it. */
export type Ring = (id: string, name: string | null) => void;

export interface AlarmIndexPorts {
  error(line: string): void;
  readonly room: Room;
  /** Returns the time by which alarms ring, in ms since 1970. */
  now(): number;
}

interface Entry {
  /** Time in the file, in ms since 1970. */
  readonly atMs: number;
  /** Time at which it rings, in ms since 1970: `atMs`, or later after a ring that failed. */
  dueMs: number;
  /** `null` once the alarm has rung. */
  timer: NodeJS.Timeout | null;
}

/**
 * Index of the alarms of a namespace's objects, in workerd's file for them: which objects are to be started, and when.
 * The alarm in an object's own database is authoritative. The time in the index is never later than that, or an object
 * that nobody calls would miss its alarm: an earlier time is written before the object commits it, a later one
 * afterwards.
 */
export class AlarmIndex {
  readonly #database: Database;
  readonly #hasNames: boolean;
  readonly #ring: Ring;
  readonly #error: (line: string) => void;
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();

  /**
   * Opens the index, and sets timers for all of its alarms.
   *
   * @param folder folder of the namespace.
   * @throws SqliteError
   */
  constructor(folder: string, ring: Ring, { error, room, now }: AlarmIndexPorts) {
    this.#ring = ring;
    this.#error = error;
    this.#now = now;
    const { database, hasNames } = openIndex(folder, error, room);
    this.#database = database;
    this.#hasNames = hasNames;
    try {
      const name = hasNames ? "actor_name" : "NULL AS actor_name";
      const rows = database.all(`SELECT actor_id, scheduled_time / 1000000 AS at_ms, ${name} FROM _cf_ALARM`);
      for (const { actor_id, at_ms, actor_name } of rows) {
        this.#arm(String(actor_id), actor_name === null ? null : String(actor_name), Number(at_ms));
      }
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** Returns the alarm of an object in the index, in ms since 1970; `null` for none. */
  at(id: string): number | null {
    return this.#entries.get(id)?.atMs ?? null;
  }

  /**
   * To be called before an object commits an alarm: writes it if it is earlier than the one in the index.
   *
   * @throws SqliteError
   */
  willCommit(id: string, name: string | null, atMs: number): void {
    const writtenMs = this.at(id);
    if (writtenMs !== null && writtenMs <= atMs) return;
    this.#write(id, name, atMs);
    this.#arm(id, name, atMs);
  }

  /**
   * To be called when an object has committed this alarm, or none. A failed write is logged: the file then has an
   * earlier alarm, which does no harm.
   */
  committed(id: string, name: string | null, atMs: number | null): void {
    const entry = this.#entries.get(id);
    if (atMs === null) {
      if (entry === undefined) return;
      clearTimeout(entry.timer ?? undefined);
      this.#entries.delete(id);
    } else {
      if (entry?.atMs === atMs && entry.timer !== null) return;
      this.#arm(id, name, atMs);
      if (entry?.atMs === atMs) return;
    }
    try {
      this.#write(id, name, atMs);
    } catch (error) {
      this.#error(`${name ?? id}: its alarm could not be written to the index of alarms: ${error}`);
    }
  }

  /** Lets the alarm of an object ring at `untilMs` instead, whatever time the file has. */
  postpone(id: string, name: string | null, untilMs: number): void {
    const writtenMs = this.at(id);
    if (writtenMs !== null) this.#arm(id, name, writtenMs, untilMs);
  }

  close(): void {
    for (const { timer } of this.#entries.values()) clearTimeout(timer ?? undefined);
    this.#entries.clear();
    this.#database.close();
  }

  #write(id: string, name: string | null, atMs: number | null): void {
    if (atMs === null) this.#database.runAlone("DELETE FROM _cf_ALARM WHERE actor_id = ?", [id]);
    else {
      const values = [id, BigInt(atMs) * NS_PER_MS, ...(this.#hasNames ? [name] : [])];
      const marks = values.map(() => "?").join(", ");
      this.#database.runAlone(`INSERT OR REPLACE INTO _cf_ALARM VALUES (${marks})`, values);
    }
  }

  #arm(id: string, name: string | null, atMs: number, dueMs = atMs): void {
    clearTimeout(this.#entries.get(id)?.timer ?? undefined);
    const entry: Entry = { atMs, dueMs, timer: null };
    this.#entries.set(id, entry);
    this.#wait(id, name, entry);
  }

  #wait(id: string, name: string | null, entry: Entry): void {
    const waitMs = Math.min(Math.max(0, entry.dueMs - this.#now()), LOOK_AGAIN_MS);
    entry.timer = setTimeout(() => {
      entry.timer = null;
      if (this.#now() < entry.dueMs) this.#wait(id, name, entry);
      else this.#ring(id, name);
    }, waitMs);
  }
}
