import { decodeRemembered, encodeRemembered } from "@sluice/engine";
import type { QueueContext } from "../turn/context.ts";

/** Time that an id is remembered, in ms: 14 days, the longest that Cloudflare Queues and SQS keep a message. */
export const SEEN_MS = 1_209_600_000;
/** Most ids that are remembered, about 30 MB. Further messages that are to be stored once are refused. */
export const SEEN_IDS_MAX = 250_000;
const PREFIX = "seen:";

/**
 * Ids of messages that another queue system may still hand over again, in memory and in the store. Each request writes
 * a note in the commit of its messages. The note goes when all of its ids are forgotten, or expire. A contract, since
 * stored notes depend on their keys and on the engine's encoding.
 */
export class SeenIds {
  readonly #context: QueueContext;
  /** Keys of notes by the ids in them. */
  readonly #noteOf = new Map<string, string>();
  /** Stored notes, oldest first. */
  readonly #notes = new Map<string, { readonly ids: Set<string>; readonly expiresMs: number }>();
  #nextNote: number;

  /** @param firstNote larger than any number of an earlier epoch. */
  constructor(context: QueueContext, firstNote: number) {
    this.#context = context;
    this.#nextNote = firstNote;
  }

  /** The number of the next note. */
  get nextNote(): number {
    return this.#nextNote;
  }

  /** Takes over a note of an earlier epoch. @returns false for a note of another kind. */
  restore(key: string, bytes: Uint8Array): boolean {
    if (!key.startsWith(PREFIX)) return false;
    try {
      const remembered = decodeRemembered(bytes);
      this.#keep(
        key,
        remembered.map((each) => each.key),
        remembered[0]?.expiresMs ?? 0,
      );
    } catch (error) {
      // A duplicate is better than a lost message, so messages with lost ids are taken as new.
      this.#context.damage.note(
        "messagesAgain",
        0,
        `ids of messages are damaged, duplicates may pass: ${error}`,
      );
      this.#keep(key, [], 0);
    }
    return true;
  }

  /** @param more number of ids that are to be remembered. */
  hasRoomFor(more: number): boolean {
    return this.#noteOf.size + more <= SEEN_IDS_MAX;
  }

  has(id: string): boolean {
    const key = this.#noteOf.get(id);
    return key !== undefined && (this.#notes.get(key)?.expiresMs ?? 0) > this.#context.nowMs;
  }

  /** Within a turn: remembers the ids of messages that are accepted, and deletes notes that have expired. */
  remember(ids: readonly string[]): void {
    const { nowMs, store } = this.#context;
    for (const [key, { expiresMs }] of this.#notes) {
      if (expiresMs > nowMs) break;
      this.#delete(key);
    }
    if (ids.length === 0) return;
    // Padded, because a store gives notes back in the order of their keys as texts.
    const key = PREFIX + String(this.#nextNote++).padStart(16, "0");
    const expiresMs = nowMs + SEEN_MS;
    this.#keep(key, ids, expiresMs);
    const bytes = encodeRemembered(ids.map((id) => ({ key: id, messageId: "", seq: 0, expiresMs })));
    this.#context.write(() => store.writeNote(key, bytes));
  }

  /** Within a turn: forgets the ids of messages that cannot come again. */
  forget(ids: readonly string[]): void {
    for (const id of ids) {
      const key = this.#noteOf.get(id);
      if (key === undefined) continue;
      this.#noteOf.delete(id);
      const note = this.#notes.get(key);
      note?.ids.delete(id);
      if (note?.ids.size === 0) this.#delete(key);
    }
  }

  #keep(key: string, ids: readonly string[], expiresMs: number): void {
    this.#notes.set(key, { ids: new Set(ids), expiresMs });
    for (const id of ids) this.#noteOf.set(id, key);
  }

  #delete(key: string): void {
    for (const id of this.#notes.get(key)?.ids ?? []) {
      if (this.#noteOf.get(id) === key) this.#noteOf.delete(id);
    }
    this.#notes.delete(key);
    this.#context.write(() => this.#context.store.writeNote(key, null));
  }
}
