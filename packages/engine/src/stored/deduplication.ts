import { ByteFormatError, ByteReader, ByteWriter } from "./bytes.ts";

/** How long a deduplication id is remembered, counted from the send that was accepted, in ms (spec sqs 4.3). */
export const DEDUPLICATION_MS = 300_000;

/** The message that a deduplication id was accepted with. A duplicate gets its id and number as the answer. */
export interface Accepted {
  readonly messageId: string;
  readonly seq: number;
}

/** An id that is remembered. `key` is the id, or group and id, by the queue's scope. */
export interface Remembered extends Accepted {
  readonly key: string;
  /** When the id is new again, in ms. */
  readonly expiresMs: number;
}

/**
 * The deduplication ids of the last five minutes (spec sqs 4.3), also of messages that are gone. All are remembered
 * equally long, so they expire in the order in which they came: no timer, no search.
 */
export class DeduplicationMemory {
  readonly #remembered = new Map<string, Remembered>();

  /** Number of ids that are remembered, with those that have expired since the last `expire`. */
  get size(): number {
    return this.#remembered.size;
  }

  /** The message that the id was accepted with; `null` for an id that is new, or new again. */
  find(key: string, nowMs: number): Accepted | null {
    const found = this.#remembered.get(key);
    return found === undefined || found.expiresMs <= nowMs ? null : found;
  }

  /** The keys that are remembered, oldest first. */
  *keys(nowMs: number): Iterable<string> {
    for (const [key, { expiresMs }] of this.#remembered) if (expiresMs > nowMs) yield key;
  }

  /** Remembers the id of a message that is accepted now. A duplicate does not prolong it: remember only what is new. */
  remember(key: string, accepted: Accepted, nowMs: number): Remembered {
    const remembered = { ...accepted, key, expiresMs: nowMs + DEDUPLICATION_MS };
    this.restore(remembered);
    return remembered;
  }

  /** Restores an id that an earlier epoch remembered. Call in order of expiry. */
  restore(remembered: Remembered): void {
    this.#remembered.delete(remembered.key);
    this.#remembered.set(remembered.key, remembered);
  }

  /** Forgets ids that have expired. */
  expire(nowMs: number): void {
    for (const [key, { expiresMs }] of this.#remembered) {
      if (expiresMs > nowMs) return;
      this.#remembered.delete(key);
    }
  }

  /** Forgets everything: the queue was purged. */
  clear(): void {
    this.#remembered.clear();
  }
}

/** First number of the stored bytes. A contract: another layout needs a new one, and a reader for this one. */
const VERSION = 1;

export function encodeRemembered(remembered: readonly Remembered[]): Uint8Array {
  const out = new ByteWriter();
  out.uint(VERSION);
  out.uint(remembered.length);
  for (const { key, messageId, seq, expiresMs } of remembered) {
    out.text(key);
    out.text(messageId);
    out.uint(seq);
    out.float(expiresMs);
  }
  return out.finish();
}

/** Reads stored ids. Throws `ByteFormatError` on other bytes. */
export function decodeRemembered(bytes: Uint8Array): Remembered[] {
  const input = new ByteReader(bytes);
  const version = input.uint();
  if (version !== VERSION) throw new ByteFormatError(`deduplication ids of version ${version}`);
  const count = input.uint();
  if (count > bytes.length) throw new ByteFormatError(`${count} deduplication ids in ${bytes.length} bytes`);
  const remembered = Array.from({ length: count }, () => {
    return { key: input.text(), messageId: input.text(), seq: input.uint(), expiresMs: input.float() };
  });
  input.end();
  return remembered;
}
