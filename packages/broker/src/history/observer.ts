import type { PackedIndex } from "@sluice/protocol";
import type { NotedEvent } from "./journal/event.ts";

/** Listener to every event of a queue, when it happens: no event is merged, and none waits. */
export interface HistoryObserver {
  /** Notifies of `count` messages of a batch, from `from` on, that are stored. Called before their event. */
  stored(queue: string, messages: PackedIndex, from: number, count: number): void;
  /** Notifies of an event. @param atMs the queue's own time. */
  noted(queue: string, event: NotedEvent, atMs: number): void;
}
