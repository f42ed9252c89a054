import {
  type HistoryEvent,
  type LookedAt,
  type MessageFilter,
  type MoveTask,
  withDeadLetterSource,
} from "@sluice/protocol";
import { mayUse, type Rights } from "./rights.ts";

/** Text in place of the name of a queue that the caller may not use. No queue can have that name. */
export const ANOTHER_QUEUE = "(another queue)";

/** Returns a queue's name as the caller may see it. Names in the settings of a queue that it may use are shown. */
export function shownName<Name extends string | null>(
  rights: Rights,
  name: Name,
): Name | typeof ANOTHER_QUEUE {
  return name === null || mayUse(rights, name) ? name : ANOTHER_QUEUE;
}

/** Removes names of other queues from messages. */
export function shownMessages(rights: Rights, messages: readonly LookedAt[]): readonly LookedAt[] {
  if (rights.queues.length === 0) return messages;
  return messages.map((message) => ({ ...message, from: shownName(rights, message.from) }));
}

/** Makes a filter match no message by the name of another queue: a match would tell that the name is right. */
export function allowedFilter(rights: Rights, filter: MessageFilter): MessageFilter {
  return filter.map((term) =>
    term.field === "from" ? { ...term, queue: shownName(rights, term.queue) } : term,
  );
}

/** Removes names of other queues from events. */
export function shownEvents(rights: Rights, events: readonly HistoryEvent[]): readonly HistoryEvent[] {
  if (rights.queues.length === 0) return events;
  return events.map((event) => ({
    ...event,
    to: shownName(rights, event.to),
    // The actor of other events is a Worker, a client or an API.
    by: event.kind === "arrived" ? shownName(rights, event.by) : event.by,
  }));
}

/** Removes the names of other queues from a move task. */
export function shownMove(rights: Rights, task: MoveTask): MoveTask {
  return { ...task, target: shownName(rights, task.target) };
}

/** Removes the name of another queue from the text of an alert. */
export function shownAlert(rights: Rights, text: string): string {
  return withDeadLetterSource(text, (source) =>
    mayUse(rights, source) ? `queue "${source}"` : ANOTHER_QUEUE,
  );
}
