import { useEffect, useRef, useState } from "preact/hooks";
import { call, type ErrorsView, errorText, type MessageView, queuePath, Refused } from "../api/call.ts";

/** Messages of one page of the list. */
const PAGE_SIZE = 50;
/** Most calls for one page. Each searches for a tenth of a second, and a filter may fit few messages. */
const CALLS_MAX = 20;

interface MessagesAnswer {
  readonly messages: readonly MessageView[];
  readonly cursor: string | null;
  /** The queue's time at which it was looked at; absent for an older broker, and before there is an answer. */
  readonly now?: string;
  readonly searched: number;
  readonly of: number;
  /** Finished messages; absent where none are kept. */
  readonly finished?: number;
}

export interface Found extends MessagesAnswer {
  readonly filter: string;
  /** The messages that fit the filter, counted by their errors; `null` where that is not known. */
  readonly errors: ErrorsView | null;
  /** Whether the search for this page goes on. */
  readonly isBusy: boolean;
  /** Why the filter cannot be read. */
  readonly problem: string;
  /** Why there was no answer. */
  readonly failure: string;
}

/** Beginning of a list. */
const FIRST: readonly (string | null)[] = [null];

const NONE: Omit<Found, "filter"> = {
  messages: [],
  cursor: null,
  searched: 0,
  of: 0,
  errors: null,
  isBusy: true,
  problem: "",
  failure: "",
};

/**
 * Looks for the messages that fit a filter. Holds one page at a time, so that memory does not grow.
 *
 * @param version looks again when it changes.
 */
export function useMessages(queue: string, filter: string, version: string) {
  const [answered, setFound] = useState<Found>({ ...NONE, filter });
  const [place, setPlace] = useState({ filter, cursors: FIRST });
  // A place belongs to the list of its filter. The list of another filter is shown from its beginning.
  const cursors = place.filter === filter ? place.cursors : FIRST;
  const found = answered.filter === filter ? answered : { ...NONE, filter };
  const go = (to: typeof FIRST) => setPlace({ filter, cursors: to });
  const [round, setRound] = useState(0);
  const searching = useRef(0);
  const at = cursors.at(-1) ?? null;
  useEffect(() => {
    const search = ++searching.current;
    const isOver = () => search !== searching.current;
    void look(queue, filter, at, isOver, setFound);
    return () => {
      searching.current++;
    };
  }, [queue, filter, at, round, version]);
  return {
    found,
    page: cursors.length,
    first: () => {
      go(FIRST);
      setRound(round + 1);
    },
    next: () => found.cursor !== null && go([...cursors, found.cursor]),
    previous: () => cursors.length > 1 && go(cursors.slice(0, -1)),
    refresh: () => setRound(round + 1),
  };
}

async function look(
  queue: string,
  filter: string,
  from: string | null,
  isOver: () => boolean,
  report: (found: Found) => void,
): Promise<void> {
  let found: Found = { ...NONE, filter };
  let cursor = from;
  // The counts stand above the list, which would move if they came later. If they fail, so does the request for the
  // list, whose failure is shown.
  const counted = countErrors(queue, filter).catch(() => null);
  try {
    for (let calls = 1; ; calls++) {
      const query = new URLSearchParams({ max: String(PAGE_SIZE - found.messages.length) });
      if (filter !== "") query.set("filter", filter);
      if (cursor !== null) query.set("cursor", cursor);
      const answer = await call<MessagesAnswer>(`${queuePath(queue)}/messages?${query}`);
      const errors = await counted;
      if (isOver()) return;
      const messages = [...found.messages, ...answer.messages];
      const isDone = answer.cursor === null || messages.length >= PAGE_SIZE || calls >= CALLS_MAX;
      found = { ...found, ...answer, errors, messages, isBusy: !isDone };
      cursor = answer.cursor;
      report(found);
      if (isDone) return;
    }
  } catch (error) {
    if (isOver()) return;
    const isProblem = error instanceof Refused && error.code === "invalid_filter";
    report({ ...found, isBusy: false, [isProblem ? "problem" : "failure"]: errorText(error) });
  }
}

function countErrors(queue: string, filter: string): Promise<ErrorsView> {
  return call<ErrorsView>(`${queuePath(queue)}/errors?${new URLSearchParams({ filter })}`);
}
