import { type CommitWatcher, type HostStorage, type OutboxItem, SqliteStore } from "@sluice/broker/testing";
import type { QueueRecord } from "@sluice/protocol";
import type { Disk } from "./disk.ts";

/** Rows that a commit has written. */
export interface Written {
  /** Segments that were written, and whether the payload has to be read back too. */
  readonly segments: Map<number, { readonly hasPayload: boolean }>;
  readonly outboxIn: OutboxItem[];
  readonly outboxOut: number[];
  /** The note of the move tasks; `null` if it was not written. */
  moves: Uint8Array | null;
  record: QueueRecord | null;
}

/** Listener for commits and drops. */
export interface StoreObserver {
  committed(written: Written): void;
  /** The store drops everything that the queue holds. */
  dropped(): void;
}

/** The broker's store of a queue on a simulated disk; it reports what each commit writes. */
export class RecordedStore extends SqliteStore {
  readonly #disk: Disk;
  readonly #observer: StoreObserver;
  #written: Written = nothing();

  constructor(
    storage: HostStorage,
    watchers: readonly Partial<CommitWatcher>[],
    disk: Disk,
    observer: StoreObserver,
  ) {
    super(storage, watchers);
    this.#disk = disk;
    this.#observer = observer;
  }

  override commit(write: () => void): void {
    this.#disk.begin();
    this.#written = nothing();
    try {
      super.commit(write);
    } catch (error) {
      this.#disk.abandon();
      throw error;
    }
    this.#observer.committed(this.#written);
  }

  override drop(): void {
    this.#disk.begin();
    super.drop();
    this.#observer.dropped();
  }

  override writeRecord(record: QueueRecord): void {
    this.#written.record = record;
    super.writeRecord(record);
  }

  override insertSegment(id: number, ...content: [Uint8Array, Uint8Array | null, Uint8Array]): void {
    this.#touch(id, true);
    super.insertSegment(id, ...content);
  }

  override replaceSegment(id: number, ...content: [Uint8Array, Uint8Array, (Uint8Array | null)?]): void {
    this.#touch(id, true);
    super.replaceSegment(id, ...content);
  }

  override writeIndex(id: number, index: Uint8Array): void {
    this.#touch(id, true);
    super.writeIndex(id, index);
  }

  override writeState(id: number, state: Uint8Array): void {
    this.#touch(id, false);
    super.writeState(id, state);
  }

  override writeOwnState(id: number, state: Uint8Array): void {
    this.#touch(id, true);
    super.writeOwnState(id, state);
  }

  override deleteSegment(id: number, hasState: boolean): void {
    this.#touch(id, true);
    super.deleteSegment(id, hasState);
  }

  override insertOutbox(item: OutboxItem): void {
    this.#disk.spend();
    this.#written.outboxIn.push(item);
    super.insertOutbox(item);
  }

  override deleteOutbox(ids: readonly number[]): void {
    this.#disk.spend();
    this.#written.outboxOut.push(...ids);
    super.deleteOutbox(ids);
  }

  override writeNote(key: string, bytes: Uint8Array | null): void {
    this.#disk.spend();
    if (key === "moves") this.#written.moves = bytes;
    super.writeNote(key, bytes);
  }

  override writeInbox(source: string, lastId: number): void {
    this.#disk.spend();
    super.writeInbox(source, lastId);
  }

  #touch(id: number, hasPayload: boolean): void {
    this.#disk.spend();
    this.#written.segments.set(id, {
      hasPayload: hasPayload || this.#written.segments.get(id)?.hasPayload === true,
    });
  }
}

function nothing(): Written {
  return { segments: new Map(), outboxIn: [], outboxOut: [], moves: null, record: null };
}
