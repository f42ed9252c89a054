import type { FiguresView, QueueView } from "./call.ts";

/** What was told last, where it is newer than what was answered. */
export function withFigures(queue: QueueView, figures: FiguresView | null | undefined): QueueView {
  if (figures == null || figures.now < queue.now) return queue;
  const { now, messages, backlogBytes, oldestMessageAt } = figures;
  return { ...queue, now, messages, backlogBytes, oldestMessageAt };
}
