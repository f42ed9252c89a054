import type { MessagePosition } from "@sluice/engine";
import type { HistoryKind } from "@sluice/protocol";
import { covers, type StoredEvent } from "../journal/event.ts";
import type { RowHead } from "../journal/journal-row.ts";
import { type Known, type Place, positionIn } from "./story.ts";

/** Kinds of events that name no message. */
const OF_QUEUE: readonly HistoryKind[] = ["paused", "resumed", "clockMoved", "purged"];

/** Row of events that is searched for a message. */
export interface SearchedRow extends Pick<RowHead, "low" | "high"> {
  /** Reads its events, as JSON. */
  text(): string;
}

/** All events of a queue. */
export interface Past {
  readonly rows: readonly SearchedRow[];
  /** Events that are not in a row yet. */
  readonly unwritten: readonly StoredEvent[];
}

/** Event that names the id of a message, with the place of the message as far as the event gives it. */
interface Named {
  readonly event: StoredEvent;
  readonly at: Place | "unknown";
}

/** Lists the events that name an id. @param parsed takes the events of rows in which it is. */
function* eventsWith(
  { rows, unwritten }: Past,
  id: string,
  parsed = new Map<SearchedRow, readonly StoredEvent[]>(),
): Generator<Named> {
  const named = (events: readonly StoredEvent[]) =>
    events.flatMap((event): Named[] => {
      const at = positionIn(event, id);
      return at === null ? [] : [{ event, at }];
    });
  yield* named(unwritten);
  for (const row of rows) {
    const text = row.text();
    if (!text.includes(id)) continue;
    const events = JSON.parse(text) as StoredEvent[];
    parsed.set(row, events);
    yield* named(events);
  }
}

/** Lists the places that a message had, as far as events name it with one. */
export function placesIn(past: Past, id: string): MessagePosition[] {
  return [...eventsWith(past, id)].flatMap(({ at }) =>
    at === "unknown" ? [] : [{ segmentId: at[0], index: at[1] }],
  );
}

/**
 * Finds what is known of a message: first the events that name its id, then those around the places that these tell.
 */
export function findStory(
  past: Past,
  id: string,
  isKept: (event: StoredEvent) => boolean,
): Pick<Known, "events" | "merged" | "ofQueue" | "places"> {
  const { rows, unwritten } = past;
  const parsed = new Map<SearchedRow, readonly StoredEvent[]>();
  const events = new Map<number, StoredEvent>();
  const merged: StoredEvent[] = [];
  const ofQueue: StoredEvent[] = [];
  const places: Place[] = [];
  for (const { event, at } of eventsWith(past, id, parsed)) {
    events.set(event.n, event);
    if (at !== "unknown" && !places.some(([segment, index]) => segment === at[0] && index === at[1]))
      places.push(at);
  }
  // Any merged event may be about a message whose place is unknown.
  const isNear = (event: StoredEvent) => places.some((place) => covers(event, ...place));
  const around = (found: readonly StoredEvent[]) => {
    for (const event of found) {
      if (OF_QUEUE.includes(event.kind)) ofQueue.push(event);
      else if (event.merged === undefined) {
        if (isNear(event)) events.set(event.n, event);
      } else if ((places.length === 0 || isNear(event)) && isKept(event)) merged.push(event);
    }
  };
  around(unwritten);
  for (const row of rows) {
    const { low, high } = row;
    if (places.length > 0 && places.every(([segment]) => segment < low || segment > high)) continue;
    around(parsed.get(row) ?? (JSON.parse(row.text()) as StoredEvent[]));
  }
  return {
    events: inOrder([...events.values()].filter(isKept)),
    merged: inOrder(merged),
    ofQueue: inOrder(ofQueue),
    places,
  };
}

function inOrder(found: Iterable<StoredEvent>): StoredEvent[] {
  return [...found].sort((a, b) => a.n - b.n);
}
