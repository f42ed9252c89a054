import {
  type Accepted,
  DeduplicationMemory,
  decodeRemembered,
  encodeRemembered,
  type Remembered,
} from "@sluice/engine";
import type { FifoSettings } from "@sluice/protocol";
import type { QueueContext } from "../turn/context.ts";

/**
 * Most deduplication ids that are remembered at a time: about 60 MB. At a steady rate that is 800 messages a second;
 * more is refused for as long as it lasts.
 */
export const DEDUPLICATION_IDS_MAX = 250_000;

/** A stored value has 2 MB at most; an id with its group has 260 characters. */
const IDS_PER_NOTE_MAX = 4_000;
const PREFIX = "deduplication:";

/**
 * The deduplication ids of a FIFO queue, in memory and in the store: one note for all that came in with a commit,
 * deleted when the last of them has expired.
 */
export class Deduplication {
  readonly #context: QueueContext;
  readonly #memory = new DeduplicationMemory();
  /** Notes that are stored, oldest first, with the moment from which on nobody needs them. */
  readonly #notes = new Map<string, number>();
  #fresh: Remembered[] = [];
  #nextNote: number;

  /** @param firstNote larger than any number of an earlier epoch. */
  constructor(context: QueueContext, firstNote: number) {
    this.#context = context;
    this.#nextNote = firstNote;
  }

  /** Takes over a note of an earlier epoch; `false` if it is none of these. */
  restore(key: string, bytes: Uint8Array): boolean {
    if (!key.startsWith(PREFIX)) return false;
    let expiresMs = 0;
    try {
      for (const remembered of decodeRemembered(bytes)) {
        this.#memory.restore(remembered);
        expiresMs = Math.max(expiresMs, remembered.expiresMs);
      }
    } catch (error) {
      // Better sent twice than refused: what follows is taken as new.
      this.#context.damage.note(
        "messagesAgain",
        0,
        `deduplication ids are damaged, duplicates may pass: ${error}`,
      );
    }
    this.#notes.set(key, expiresMs);
    return true;
  }

  get isFull(): boolean {
    return this.#memory.size >= DEDUPLICATION_IDS_MAX;
  }

  /**
   * When the latest note can be deleted, in ms; `null` if there is none. Until then each turn deletes what it finds.
   */
  get forgetAtMs(): number | null {
    const last = [...this.#notes.values()].at(-1);
    return last ?? null;
  }

  find(key: string): Accepted | null {
    return this.#memory.find(key, this.#context.nowMs);
  }

  /** Within a turn: remembers a message that is accepted. */
  remember(key: string, accepted: Accepted): void {
    this.#fresh.push(this.#memory.remember(key, accepted, this.#context.nowMs));
  }

  /** Within a turn, before its commit: forgets what has expired, and adds what is new to what is written. */
  write(nowMs: number): void {
    const { store } = this.#context;
    this.#memory.expire(nowMs);
    for (const [key, expiresMs] of this.#notes) {
      if (expiresMs > nowMs) break;
      this.#delete(key);
    }
    const fresh = this.#fresh;
    this.#fresh = [];
    for (let from = 0; from < fresh.length; from += IDS_PER_NOTE_MAX) {
      const part = fresh.slice(from, from + IDS_PER_NOTE_MAX);
      // In order as texts too: a store gives notes back in the order of their keys.
      const key = PREFIX + String(this.#nextNote++).padStart(16, "0");
      this.#notes.set(key, part.at(-1)?.expiresMs ?? 0);
      this.#context.write(() => store.writeNote(key, encodeRemembered(part)));
    }
  }

  /** Within a turn: forgets everything, because the queue is purged. */
  clear(): void {
    this.#memory.clear();
    this.#fresh = [];
    for (const key of [...this.#notes.keys()]) this.#delete(key);
  }

  #delete(key: string): void {
    this.#notes.delete(key);
    this.#context.write(() => this.#context.store.writeNote(key, null));
  }
}

/** Makes the key that an id is remembered by; it contains the group where that is the scope (spec sqs 4.3). */
export function deduplicationKey(settings: FifoSettings | undefined, groupId: string, id: string): string {
  // No id or group has a line break in it.
  return settings?.deduplicationScope === "messageGroup" ? `${groupId}\n${id}` : id;
}
