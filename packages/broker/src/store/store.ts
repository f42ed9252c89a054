import type { QueueDamage } from "@sluice/protocol";

/** A segment as it was stored. */
export interface StoredSegment {
  readonly id: number;
  readonly index: Uint8Array;
  readonly state: Uint8Array | null;
}

/** A row whose content is not what was stored, told by its checksum. */
export class DamagedRowError extends Error {
  override readonly name = "DamagedRowError";
}

/** One of the small things that a queue remembers: who writes them knows how to read and to check them. */
export interface Note {
  readonly key: string;
  readonly bytes: Uint8Array;
}

/** Messages on their way to another queue. */
export interface OutboxItem {
  readonly id: number;
  readonly target: string;
  readonly payload: Uint8Array;
}

/** The beginning of a row of the journal. */
export interface JournalHead {
  readonly slot: number;
  readonly head: Uint8Array;
}

/** Rows that tell what happened, by slots that are overwritten. Who writes them knows how to read and to check them. */
export interface JournalRows {
  /** The first `bytes` of each row. */
  journalHeads(bytes: number): Iterable<JournalHead>;
  readJournal(slot: number): Uint8Array | null;
  writeJournal(slot: number, body: Uint8Array): void;
}

/**
 * Where a queue is kept. Every write happens inside `commit`: all of it or nothing. What a commit wrote is durable when
 * `synced` resolves.
 */
export interface QueueStore extends JournalRows {
  /** Runs the writes of one turn as one transaction. What they read is what was there before it. */
  commit(write: () => void): void;
  /** Resolves when everything committed so far is durable. */
  synced(): Promise<void>;

  /** Number of the latest epoch of this queue, 0 before the first. */
  readEpoch(): number;
  /** The name the queue was first called by, `null` before its first commit. */
  readName(): string | null;
  /** Reads the version that `writeVersion` wrote last, `null` if there is none. */
  readVersion(): string | null;
  /** Notes which version of the broker's code this epoch runs. */
  writeVersion(version: string): void;
  readClockOffsetMs(): number;
  writeClockOffsetMs(offsetMs: number): void;
  /** Makes the number of this epoch durable; in its first commit. */
  writeEpoch(epoch: number, name: string): void;

  /** All segments without their payloads, oldest first. */
  segments(): Iterable<StoredSegment>;
  /** Records that are damaged may be in it as unreadable ones (`isReadable`). Throws when nothing of it can be told. */
  readPayload(id: number): Uint8Array | null;
  insertSegment(id: number, index: Uint8Array, state: Uint8Array | null, payload: Uint8Array): void;
  /** Replaces a segment that took more messages. @param state what its row says of them. Default: what it said. */
  replaceSegment(id: number, index: Uint8Array, payload: Uint8Array, state?: Uint8Array | null): void;
  /** Replaces what is known of a segment's messages beside their bytes: when they are due has changed. */
  writeIndex(id: number, index: Uint8Array): void;
  /** In a row apart, so that the payload is not written again. */
  writeState(id: number, state: Uint8Array): void;
  /** In the row of the segment: one row less to delete. For one that has no state apart. */
  writeOwnState(id: number, state: Uint8Array): void;
  /** @param hasState Whether `writeState` was ever called for it: saves a statement when not. */
  deleteSegment(id: number, hasState: boolean): void;

  /**
   * In order of their ids. Records that are damaged may be in it as unreadable ones; none at all if nothing can be
   * told.
   */
  outbox(): readonly OutboxItem[];
  insertOutbox(item: OutboxItem): void;
  /** In one statement, however many. */
  deleteOutbox(ids: readonly number[]): void;
  /** The last outbox id that was taken from `source`, 0 if none was. Throws `DamagedRowError`. */
  readInbox(source: string): number;
  writeInbox(source: string, lastId: number): void;

  /**
   * Small things that the queue remembers beside its messages, in order of their keys as texts. Nobody else checks
   * them.
   */
  notes(): Iterable<Note>;
  /** `null` deletes. */
  writeNote(key: string, bytes: Uint8Array | null): void;

  /** Rows written and read since this epoch began: what Cloudflare bills (spec cloudflare-queues 9.2). */
  readonly rowsWritten: number;
  readonly rowsRead: number;
}

/** Where damage is remembered over restarts. */
export interface DamageRecord {
  readDamage(): readonly QueueDamage[];
  /** Within a commit. */
  writeDamage(damage: readonly QueueDamage[]): void;
}
