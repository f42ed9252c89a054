import type { Database } from "../sqlite/database.ts";
import type { Room } from "../sqlite/room.ts";
import { openIndex } from "./index-file.ts";

/**
 * Longest that a timer waits before it looks at the clock again, in ms: of a computer that slept, or whose clock was
 * set, the timers do not know. (No timer of Node.js waits longer than 2^31 ms, in any case.)
 */
export const LOOK_AGAIN_MS = 60_000;
const NS_PER_MS = 1_000_000n;

/** Rings at the object with an id. Its name is not known of one that was never called by it. */
export type Ring = (id: string, name: string | null) => void;

export interface AlarmIndexPorts {
  error(line: string): void;
  readonly room: Room;
  /** The time that alarms go by, in ms since 1970. */
  now(): number;
}

interface Entry {
  /** Time that is written to the file, in ms since 1970. */
  readonly atMs: number;
  /** When it rings: then, or later if it could not be heard. */
  dueMs: number;
  /** `null` once it rang. */
  timer: NodeJS.Timeout | null;
}

/**
 * The alarms of a namespace's objects, in the file that workerd keeps them in: which objects are to be started, and
 * when. Each object also has its own in its own database; that one counts. What is written here is never later, or an
 * object that nobody calls would sleep on: an earlier alarm is written before the object commits it, any other one
 * afterwards.
 */
export class AlarmIndex {
  readonly #database: Database;
  readonly #hasNames: boolean;
  readonly #ring: Ring;
  readonly #error: (line: string) => void;
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();

  /** @param folder of the namespace. Everything in its index is set. Throws `SqliteError`. */
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

  /** Returns the time that is written for an object, in ms since 1970; `null` for none. */
  at(id: string): number | null {
    return this.#entries.get(id)?.atMs ?? null;
  }

  /** An object is about to commit an alarm: it is written here if it is earlier. Throws `SqliteError`. */
  willCommit(id: string, name: string | null, atMs: number): void {
    const writtenMs = this.at(id);
    if (writtenMs !== null && writtenMs <= atMs) return;
    this.#write(id, name, atMs);
    this.#arm(id, name, atMs);
  }

  /**
   * An object has this alarm, or none. What cannot be written is said: the file then has an earlier one, which does no
   * harm.
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

  /** An alarm that could not be heard rings again then, whatever is written. */
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
