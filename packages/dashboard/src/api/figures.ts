import type { FiguresView, QueueView } from "./call.ts";

/** Puts the latest figures of the feed into a queue's answer, unless they are older than the answer. */
export function withFigures(queue: QueueView, figures: FiguresView | null | undefined): QueueView {
  if (figures == null || figures.now < queue.now) return queue;
  const { now, messages, backlogBytes, oldestMessageAt, health = queue.health } = figures;
  return { ...queue, now, messages, backlogBytes, oldestMessageAt, health };
}
