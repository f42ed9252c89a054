import type { PackedIndex } from "@sluice/protocol";
import type { NotedEvent } from "./event.ts";

/** Told of everything that happens in a queue at the moment that it does: nothing is merged, and nothing waits. */
export interface HistoryObserver {
  /** Messages that are stored, before the event that says so: from `from` on so many of the batch. */
  stored(queue: string, messages: PackedIndex, from: number, count: number): void;
  /** @param event without a number. @param atMs the queue's own time. */
  noted(queue: string, event: NotedEvent, atMs: number): void;
}
