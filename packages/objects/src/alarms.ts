import { Database } from "./database.ts";

/** Longest that a timer of Node.js waits, in ms. */
const TIMER_MS_MAX = 2 ** 31 - 1;
const NS_PER_MS = 1_000_000n;

/** Rings at the object with an id. Its name is not known of one that was never called by it. */
export type Ring = (id: string, name: string | null) => void;

/**
 * The alarms of a namespace's objects, in the file that workerd keeps them in: which objects are to be started, and when. Each
 * object also has its own in its own database; that one counts.
 */
export class Alarms {
  readonly #database: Database;
  readonly #ring: Ring;
  readonly #set = new Map<string, { readonly atMs: number; timer: NodeJS.Timeout }>();

  /** @param file `metadata.sqlite` of the namespace. Everything in it is set. */
  constructor(file: string, ring: Ring) {
    this.#ring = ring;
    this.#database = new Database(file);
    this.#database.run(
      "CREATE TABLE IF NOT EXISTS _cf_ALARM (actor_id TEXT PRIMARY KEY, scheduled_time INTEGER, actor_name TEXT) WITHOUT ROWID",
    );
    const rows = this.#database.all(
      "SELECT actor_id, scheduled_time / 1000000 AS at_ms, actor_name FROM _cf_ALARM",
    );
    for (const { actor_id, at_ms, actor_name } of rows) {
      this.#arm(String(actor_id), actor_name === null ? null : String(actor_name), Number(at_ms));
    }
  }

  /** When the object with an id is to be rung at, in ms since 1970. */
  at(id: string): number | null {
    return this.#set.get(id)?.atMs ?? null;
  }

  /** Writes an alarm, or that there is none, and goes by it. */
  set(id: string, name: string | null, atMs: number | null): void {
    if (this.at(id) === atMs) return;
    if (atMs === null) {
      this.#database.run("DELETE FROM _cf_ALARM WHERE actor_id = ?", id);
      clearTimeout(this.#set.get(id)?.timer);
      this.#set.delete(id);
      return;
    }
    this.#database.run(
      "INSERT OR REPLACE INTO _cf_ALARM VALUES (?, ?, ?)",
      id,
      BigInt(atMs) * NS_PER_MS,
      name,
    );
    this.#arm(id, name, atMs);
  }

  /** Rings again later, though what is written says sooner. */
  ringAt(id: string, name: string | null, atMs: number): void {
    this.#arm(id, name, atMs);
  }

  close(): void {
    for (const { timer } of this.#set.values()) clearTimeout(timer);
    this.#set.clear();
    this.#database.close();
  }

  #arm(id: string, name: string | null, atMs: number): void {
    clearTimeout(this.#set.get(id)?.timer);
    const waitMs = Math.min(Math.max(0, atMs - Date.now()), TIMER_MS_MAX);
    const timer = setTimeout(() => {
      if (Date.now() < atMs) this.#arm(id, name, atMs);
      else this.#ring(id, name);
    }, waitMs);
    this.#set.set(id, { atMs, timer });
  }
}
