import type { MessageView } from "../api/call.ts";

/** A message of the list, as links name it. */
export type Listed = Pick<MessageView, "id" | "ref">;

interface ListOrder {
  readonly queue: string;
  readonly messages: readonly Listed[];
}

/** A message's place in the list that it was opened from. */
export interface ListPlace {
  /** Counted from 1. */
  readonly position: number;
  readonly of: number;
  readonly previous: Listed | null;
  readonly next: Listed | null;
}

/** The list that was shown last. It stays as it was while messages come and go. */
let last: ListOrder | null = null;

export function rememberOrder(queue: string, messages: readonly Listed[]): void {
  last = { queue, messages };
}

/** Finds a message in the list that was shown last; `null` if it was opened from elsewhere. */
export function placeInList(queue: string, id: string): ListPlace | null {
  if (last?.queue !== queue) return null;
  const { messages } = last;
  const at = messages.findIndex((message) => message.id === id);
  if (at === -1) return null;
  return {
    position: at + 1,
    of: messages.length,
    previous: messages[at - 1] ?? null,
    next: messages[at + 1] ?? null,
  };
}
