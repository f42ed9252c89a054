import type { HistoryRequest } from "@sluice/protocol";
import type { StoredEvent } from "./journal/event.ts";
import type { RowHead } from "./journal/journal-row.ts";

/** Most text that a request for events reads, in units. After that it answers with the events found so far. */
const SCANNED_UNITS_MAX = 2_000_000;

interface ListedEvents {
  readonly rows: readonly ListedRow[];
  /** Events that are not in a row yet. */
  readonly unwritten: readonly StoredEvent[];
}

interface ListedRow extends Pick<RowHead, "first" | "last"> {
  /** Reads its events, as JSON. */
  text(): string;
}

/**
 * Finds the newest events of a request.
 *
 * @param listed all events, rows in falling order of their last event.
 * @returns the events, newest first, and the number that the next request asks before; `null` if there are no more.
 */
export function newestEvents(
  { rows, unwritten }: ListedEvents,
  { before = Infinity, after = -1, kinds, max }: HistoryRequest,
  isKept: (event: StoredEvent) => boolean,
): { readonly events: readonly StoredEvent[]; readonly next: number | null } {
  const isAsked = (event: StoredEvent) =>
    event.n < before && event.n > after && (kinds?.includes(event.kind) ?? true) && isKept(event);
  const found = unwritten.filter(isAsked);
  const asked = rows.filter(({ first, last }) => first < before && last > after);
  let units = 0;
  /** Number from which on all events have been looked at. */
  let floor = 0;
  for (const [i, row] of asked.entries()) {
    const text = row.text();
    units += text.length;
    found.push(...(JSON.parse(text) as StoredEvent[]).filter(isAsked));
    // Rows of the two rings overlap: an event of the next row may lie between events of this one.
    const { last = -1 } = asked[i + 1] ?? {};
    const isEnough = units >= SCANNED_UNITS_MAX || found.filter(({ n }) => n > last).length > max;
    if (last === -1 || last >= before || !isEnough) continue;
    floor = last + 1;
    break;
  }
  const sure = found.filter(({ n }) => n >= floor).sort((a, b) => b.n - a.n);
  const events = sure.slice(0, max);
  const next = sure.length > max ? (events.at(-1)?.n ?? null) : floor === 0 ? null : floor;
  return { events, next };
}
