import {
  type Accepted,
  DeduplicationMemory,
  decodeRemembered,
  encodeRemembered,
  type Remembered,
} from "@sluice/engine";
import type { FifoSettings } from "@sluice/protocol";
import type { QueueContext } from "../turn/context.ts";

/** Most deduplication ids that are remembered, about 60 MB, or 800 messages a second. Further sends are refused. */
export const DEDUPLICATION_IDS_MAX = 250_000;

/** Ids of a note: a stored value has 2 MB at most, and an id with its group 260 characters. */
const IDS_PER_NOTE_MAX = 4_000;
const PREFIX = "deduplication:";

/**
 * Deduplication ids of a FIFO queue, in memory and in the store. A commit writes its ids as one note, which is deleted
 * when the last of them has expired. A contract, since stored notes depend on their keys and on the engine's encoding.
 */
export class Deduplication {
  readonly #context: QueueContext;
  readonly #memory = new DeduplicationMemory();
  /** Keys of stored notes, oldest first, with the times in ms at which their last ids expire. */
  readonly #notes = new Map<string, number>();
  /** Latest time in ms at which an id of a note expires. */
  #latestMs = 0;
  #fresh: Remembered[] = [];
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
    let expiresMs = 0;
    try {
      for (const remembered of decodeRemembered(bytes)) {
        this.#memory.restore(remembered);
        expiresMs = Math.max(expiresMs, remembered.expiresMs);
      }
    } catch (error) {
      // A duplicate is better than a lost message, so messages with lost ids are taken as new.
      this.#context.damage.note(
        "messagesAgain",
        0,
        `deduplication ids are damaged, duplicates may pass: ${error}`,
      );
    }
    this.#keep(key, expiresMs);
    return true;
  }

  get isFull(): boolean {
    return this.#memory.size >= DEDUPLICATION_IDS_MAX;
  }

  /** Time in ms at which the latest note expires; `null` if there is none. Each turn before it may delete others. */
  get forgetAtMs(): number | null {
    // Read in each turn: to search 60,000 notes, as 200 commits a second leave, was measured at 9 ms.
    return this.#notes.size === 0 ? null : this.#latestMs;
  }

  find(key: string): Accepted | null {
    return this.#memory.find(key, this.#context.nowMs);
  }

  isRemembered(groupId: string, deduplicationId: string): boolean {
    return this.find(deduplicationKey(this.#context.definition?.fifo, groupId, deduplicationId)) !== null;
  }

  /** Lists the groups of the ids that are remembered, where the group is their scope. */
  groups(): Set<string> {
    const keys = this.#memory.keys(this.#context.nowMs);
    return new Set(Array.from(keys, (key) => key.slice(0, Math.max(0, key.indexOf("\n")))));
  }

  /** Within a turn: remembers an accepted message. */
  remember(key: string, accepted: Accepted): void {
    this.#fresh.push(this.#memory.remember(key, accepted, this.#context.nowMs));
  }

  /** Within a turn, before its commit: forgets expired ids, and writes new ones. */
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
      // Padded, because a store gives notes back in the order of their keys as texts.
      const key = PREFIX + String(this.#nextNote++).padStart(16, "0");
      this.#keep(key, part.at(-1)?.expiresMs ?? 0);
      this.#context.write(() => store.writeNote(key, encodeRemembered(part)));
    }
  }

  /** Within a turn: forgets everything, because the queue is purged. */
  clear(): void {
    this.#memory.clear();
    this.#fresh = [];
    for (const key of [...this.#notes.keys()]) this.#delete(key);
  }

  #keep(key: string, expiresMs: number): void {
    this.#notes.set(key, expiresMs);
    this.#latestMs = Math.max(this.#latestMs, expiresMs);
  }

  #delete(key: string): void {
    this.#notes.delete(key);
    this.#context.write(() => this.#context.store.writeNote(key, null));
  }
}

/** Makes the key of a deduplication id, with the group where that is the scope (spec sqs 4.3). */
export function deduplicationKey(settings: FifoSettings | undefined, groupId: string, id: string): string {
  // Neither an id nor a group has a line break in it.
  return settings?.deduplicationScope === "messageGroup" ? `${groupId}\n${id}` : id;
}
