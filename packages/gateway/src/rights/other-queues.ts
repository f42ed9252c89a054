import type { HistoryEvent, LookedAt, MessageFilter, MoveTask } from "@sluice/protocol";
import { mayUse, type Rights } from "./rights.ts";

/** Stands for the name of a queue that who asks may not use. No queue can be called that. */
export const ANOTHER_QUEUE = "(another queue)";

/** A queue's name as somebody may see it. Names in the settings of a queue that they may use are shown as they are. */
export function shownName<Name extends string | null>(
  rights: Rights,
  name: Name,
): Name | typeof ANOTHER_QUEUE {
  return name === null || mayUse(rights, name) ? name : ANOTHER_QUEUE;
}

/** Messages without names of other queues. */
export function shownMessages(rights: Rights, messages: readonly LookedAt[]): readonly LookedAt[] {
  if (rights.queues.length === 0) return messages;
  return messages.map((message) => ({ ...message, from: shownName(rights, message.from) }));
}

/** A filter that fits no message by the name of another queue: what it finds would tell that the name is right. */
export function allowedFilter(rights: Rights, filter: MessageFilter): MessageFilter {
  return filter.map((term) =>
    term.field === "from" ? { ...term, queue: shownName(rights, term.queue) } : term,
  );
}

/** Events without names of other queues. */
export function shownEvents(rights: Rights, events: readonly HistoryEvent[]): readonly HistoryEvent[] {
  if (rights.queues.length === 0) return events;
  return events.map((event) => ({
    ...event,
    to: shownName(rights, event.to),
    // Of other events it is a Worker, a client or an API.
    by: event.kind === "arrived" ? shownName(rights, event.by) : event.by,
  }));
}

/** A move task without the name of another queue. */
export function shownMove(rights: Rights, task: MoveTask): MoveTask {
  return { ...task, target: shownName(rights, task.target) };
}
