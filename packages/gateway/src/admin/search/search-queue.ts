import type { LookRequest, MessageFilter } from "@sluice/protocol";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { shownEvents, shownMessages } from "../../rights/other-queues.ts";
import type { Rights } from "../../rights/rights.ts";
import { eventView } from "../history/history-view.ts";
import { isWholeId } from "../messages/find-message.ts";
import { messageView } from "../messages/message-view.ts";
import type { FoundView, GoneView, UnfinishedView } from "./search-view.ts";

/** Most messages that are shown of a queue. */
export const SHOWN_MAX = 5;
/** Number of messages that fit, after which those of a queue are counted no further. */
export const COUNTED_MAX = 1_000;
/** Most messages that are shown of those that a queue no longer has. */
export const GONE_MAX = 3;

/** Filter with the text that it was written as. */
export interface Written {
  readonly text: string;
  readonly filter: MessageFilter;
}

/** Request to each queue. */
export interface Wanted {
  readonly filters: readonly Written[];
  /** Beginning of the ids of messages that are looked for in histories; `null` for none. */
  readonly beginning: string | null;
}

/** Findings in a queue, and how far it was searched. */
export interface QueueResult {
  readonly found: readonly FoundView[];
  readonly gone: readonly GoneView[];
  readonly unfinished: UnfinishedView | null;
}

/** Searches a queue. @param isOver whether its time is over; each filter gets one call even then. */
export async function searchQueue(
  directory: QueueDirectory,
  rights: Rights,
  queue: string,
  { filters, beginning }: Wanted,
  isOver: () => boolean,
): Promise<QueueResult> {
  const found: FoundView[] = [];
  let unfinished: UnfinishedView | null = null;
  let keepsFinished = false;
  const ofFinished = filters.filter(leavesOutFinished).map(finishedOf);
  for (const written of [...filters, ...ofFinished]) {
    const { text, filter } = written;
    if (!keepsFinished && ofFinished.includes(written)) continue;
    let request: LookRequest = requestOf(filter);
    let messages: FoundView["messages"] = [];
    let count = 0;
    for (;;) {
      const reply = await directory.queue(queue).look(queue, request);
      messages = [...messages, ...shownMessages(rights, reply.messages).map(messageView)];
      count += reply.matched;
      keepsFinished = reply.finished !== undefined;
      const { cursor, searched, of } = reply;
      const isWhole = cursor === null || (request.only !== undefined && count > 0);
      const isCounted = count >= COUNTED_MAX;
      if (cursor !== null && !isWhole && !isCounted && !isOver()) {
        request = { ...request, cursor, max: request.max - reply.messages.length };
        continue;
      }
      const isByWholeId = request.only !== undefined && messages[0]?.end !== undefined;
      const lists = isByWholeId ? finishedOf(written).text : text;
      if (count > 0) found.push({ queue, filter: lists, messages, count, isWhole });
      if (!isWhole && !isCounted) unfinished = { queue, searched, of };
      break;
    }
  }
  const here = new Set(found.flatMap(({ messages }) => messages.map(({ id }) => id)));
  const gone = beginning === null ? [] : await goneMessages(directory, rights, queue, beginning, here);
  return { found, gone, unfinished };
}

/** Makes the request of a filter. A whole id names one message, which is found faster than all that fit a filter. */
function requestOf(filter: MessageFilter): LookRequest {
  const [term, ...others] = filter;
  if (others.length === 0 && term !== undefined && isWholeId(term)) {
    return { max: 1, only: [term.prefix] };
  }
  return { max: SHOWN_MAX, filter, countsAll: true };
}

/** Whether a filter leaves out finished messages: it has no state, and no whole id, which finds finished ones too. */
function leavesOutFinished({ filter }: Written): boolean {
  return requestOf(filter).only === undefined && filter.every(({ field }) => field !== "state");
}

function finishedOf({ text, filter }: Written): Written {
  return { text: `${text} state:finished`, filter: [...filter, { field: "state", state: "finished" }] };
}

/** Finds messages that the history of a queue names, except for those that were found in it (`here`). */
async function goneMessages(
  directory: QueueDirectory,
  rights: Rights,
  queue: string,
  beginning: string,
  here: ReadonlySet<string>,
): Promise<GoneView[]> {
  const ids = await directory.queue(queue).idsNamed(queue, beginning);
  const gone = ids.filter((id) => !here.has(id)).slice(0, GONE_MAX);
  const stories = await Promise.all(gone.map((id) => directory.queue(queue).story(queue, id)));
  return gone.flatMap((id, i) => {
    const [last] = shownEvents(rights, stories[i]?.events.slice(-1) ?? []);
    return last === undefined ? [] : { queue, id, last: eventView(last) };
  });
}
