import type { ClockSetting, QueueDamage } from "@sluice/protocol";

/** Segment as it is stored, without its payload. */
export interface StoredSegment {
  readonly id: number;
  readonly index: Uint8Array;
  readonly state: Uint8Array | null;
}

/** Error for a row that does not match its checksum. */
export class DamagedRowError extends Error {
  override readonly name = "DamagedRowError";
}

/** Small piece of data that a queue remembers. The class that writes it also reads and verifies it. */
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

/** First bytes of a row of the journal. */
export interface JournalHead {
  readonly slot: number;
  readonly head: Uint8Array;
}

/** First slot of the journal that holds finished messages. Those before it hold what happened. */
export const FINISHED_FIRST_SLOT = 20_000;

/** Rows of the history, in slots that are overwritten. The history reads and verifies them. */
export interface JournalRows {
  /** Reads the first `bytes` of each row in the slots [from, to). Default: those before `FINISHED_FIRST_SLOT`. */
  journalHeads(bytes: number, from?: number, to?: number): Iterable<JournalHead>;
  readJournal(slot: number): Uint8Array | null;
  writeJournal(slot: number, body: Uint8Array): void;
  /** Deletes the rows in the slots from `from` on. */
  deleteJournal(from: number): void;
}

/**
 * Store of a queue. Every write happens inside `commit`, all of it or nothing. A commit is durable when `synced`
 * resolves.
 */
export interface QueueStore extends JournalRows, DamageRecord {
  /** Runs the writes of one turn as one transaction. Reads inside it see the data from before it. */
  commit(write: () => void): void;
  /** Resolves when everything committed so far is durable. */
  synced(): Promise<void>;

  /** Reads the number of the latest epoch of this queue, 0 before the first. */
  readEpoch(): number;
  /** Reads the name that the queue was first called by, `null` before its first commit. */
  readName(): string | null;
  /** Reads the version that `writeVersion` wrote last, `null` if there is none. */
  readVersion(): string | null;
  /** Notes which version of the broker's code this epoch runs. */
  writeVersion(version: string): void;
  /** Reads the setting of the clock that `writeClock` wrote last, `REAL_TIME` if there is none. */
  readClock(): ClockSetting;
  writeClock(setting: ClockSetting): void;
  /** Writes the number of this epoch, in its first commit. */
  writeEpoch(epoch: number, name: string): void;
  /** Writes within a commit that the next epoch comes after a later one: the ids of this one do not suffice. */
  raiseEpoch(epoch: number): void;

  /** Lists all segments without their payloads, oldest first. */
  segments(): Iterable<StoredSegment>;
  /**
   * Reads a payload; damaged records in it are unreadable (`isReadable`). Throws when its checksums are damaged.
   *
   * @param isWanted looks at the bytes before they are verified. If it returns false, `null` is returned.
   */
  readPayload(id: number, isWanted?: (packed: Uint8Array) => boolean): Uint8Array | null;
  insertSegment(id: number, index: Uint8Array, state: Uint8Array | null, payload: Uint8Array): void;
  /** Replaces a segment to which messages were appended. @param state of its messages. Default: the stored one. */
  replaceSegment(id: number, index: Uint8Array, payload: Uint8Array, state?: Uint8Array | null): void;
  /** Replaces the index of a segment, when due times have changed. */
  writeIndex(id: number, index: Uint8Array): void;
  /** Writes the state of a segment in a row apart, so that the payload is not written again. */
  writeState(id: number, state: Uint8Array): void;
  /** Writes the state of a segment that has no row apart into its own row, which is one row less to delete. */
  writeOwnState(id: number, state: Uint8Array): void;
  /** Deletes a segment. @param hasState Whether `writeState` was ever called for it: saves a statement when not. */
  deleteSegment(id: number, hasState: boolean): void;
  /** Takes note that the commit in the making leaves no message in the queue. */
  lastLeaves(): void;

  /** Lists items by their ids. Damaged records in them are unreadable; an item with damaged checksums is empty. */
  outbox(): readonly OutboxItem[];
  insertOutbox(item: OutboxItem): void;
  /** Deletes any number of items in one statement. */
  deleteOutbox(ids: readonly number[]): void;
  /** Reads the last outbox id that was taken from `source`, 0 if none was. Throws `DamagedRowError`. */
  readInbox(source: string): number;
  writeInbox(source: string, lastId: number): void;

  /** Lists the notes of the queue, unverified, in order of their keys as texts. */
  notes(): Iterable<Note>;
  /** Writes a note; `null` deletes it. */
  writeNote(key: string, bytes: Uint8Array | null): void;

  /** Numbers of rows written and read in this epoch, which Cloudflare bills (spec cloudflare-queues 9.2). */
  readonly rowsWritten: number;
  readonly rowsRead: number;
}

/** Store of the damage that was found in a queue. */
export interface DamageRecord {
  readDamage(): readonly QueueDamage[];
  /** Writes all entries, within a commit. */
  writeDamage(damage: readonly QueueDamage[]): void;
}
