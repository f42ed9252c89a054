import type { QueueStore } from "../../src/store/store.ts";

/** A disk on which a store can be opened. A second `open` is what a restart of the process does. */
export interface Disk {
  open(): QueueStore;
}

/** One thing that every `QueueStore` does. */
export interface ConformanceCase {
  readonly name: string;
  run(disk: Disk): Promise<void> | void;
}

export function cases(all: Record<string, ConformanceCase["run"]>): readonly ConformanceCase[] {
  return Object.entries(all).map(([name, run]) => ({ name, run }));
}

export const bytes = (...values: number[]) => Uint8Array.from(values);

/** Everything that a queue reads at its start. */
export function contentOf(store: QueueStore) {
  return {
    epoch: store.readEpoch(),
    name: store.readName(),
    clock: store.readClock(),
    segments: [...store.segments()],
    outbox: [...store.outbox()],
    notes: [...store.notes()],
  };
}
