import { epochOf, type Queue } from "@sluice/engine";
import type { PayloadCache } from "../store/payload-cache.ts";
import type { QueueStore } from "../store/store.ts";
import { writeChanges } from "./changes.ts";

interface WrittenQueue {
  readonly name: string;
  readonly epoch: number;
  readonly queue: Queue;
  readonly store: QueueStore;
  readonly cache: PayloadCache;
  /** Larger than all ids that were given so far. */
  readonly nextId: number;
}

/** Ids at the end of an epoch that are left to the last reports of a deleted queue. */
const RESERVED_IDS = 1_000;

/** Writes of the turn in the making: those that its jobs add, and what the engine has changed. All are one commit. */
export class TurnWrites {
  readonly #written: WrittenQueue;
  readonly #writeFirst: () => void;
  /** Segments with a row in `segment_states`. */
  #withState = new Set<number>();
  #added: (() => void)[] = [];
  /** The epoch that is stored as the latest one. */
  #epoch: number;
  #hasCommitted = false;

  /** @param writeFirst writes what the first commit of an epoch begins with, besides the number of the epoch. */
  constructor(written: WrittenQueue, writeFirst: () => void) {
    this.#written = written;
    this.#writeFirst = writeFirst;
    this.#epoch = written.epoch;
  }

  /** Takes the segments that have a row in `segment_states` from earlier epochs. */
  loaded(withState: Set<number>): void {
    this.#withState = withState;
  }

  add(write: () => void): void {
    this.#added.push(write);
  }

  /** Whether there is something to commit by now. */
  get hasAny(): boolean {
    return this.#written.queue.changes.size > 0 || this.#added.length > 0;
  }

  commit(): void {
    if (!this.hasAny) return;
    const { name, epoch, queue, store, cache } = this.#written;
    const added = this.#added;
    this.#added = [];
    store.commit(() => {
      if (!this.#hasCommitted) {
        store.writeEpoch(epoch, name);
        this.#writeFirst();
      }
      writeChanges(queue, store, cache, this.#withState);
      for (const write of added) write();
      this.#raiseEpoch();
      if (queue.segments.size === 0) store.lastLeaves();
    });
    this.#hasCommitted = true;
  }

  /** Within a commit: raises the stored epoch if the ids that were given reach into the range of a later one. */
  #raiseEpoch(): void {
    const { store, nextId } = this.#written;
    const epoch = epochOf(nextId + RESERVED_IDS);
    if (epoch <= this.#epoch) return;
    store.raiseEpoch(epoch);
    this.#epoch = epoch;
  }
}
