import {
  acceptedMsAt,
  advance,
  groupIdAt,
  type MessagePosition,
  type MessageRange,
  messageRanges,
  type Queue,
  rangeAt,
} from "@sluice/engine";
import {
  isAmong,
  isReadable,
  type LookedAt,
  type LookReply,
  type LookRequest,
  type PackedIndex,
  PREVIEW_BYTES_MAX,
  PULL_MESSAGES_MAX,
} from "@sluice/protocol";
import { encodeToken } from "../receive/message-token.ts";
import type { QueueContext } from "../turn/context.ts";
import type { Reasons } from "../why/reasons.ts";
import { extensionOf, Matcher, sourceOf } from "./matcher.ts";

/** For how long a look goes through messages, in ms: the queue does nothing else meanwhile. */
export const LOOK_MS_MAX = 100;
/** Bytes that it reads at most: clocks of Workers stand still while one runs. */
export const LOOK_BYTES_MAX = 48_000_000;
/** Bytes of bodies in an answer of whole ones. It has one body more at most: 32 MB are what RPC takes. */
export const WHOLE_BYTES_MAX = 8_000_000;
/** Messages between two looks at the clock. */
const MESSAGES_PER_LOOK_AT_CLOCK = 256;

/** Parts of a queue that a search uses. */
export interface SearchPorts {
  readonly context: Pick<QueueContext, "name" | "queue" | "nowMs">;
  /** The records of a segment; `null` when they cannot be read. */
  payloadOf(segmentId: number): PackedIndex | null;
  /** Goes on in ms while it runs, where a clock does. */
  elapsedMs(): number;
}

/** Parts of a queue that a look uses. */
export interface LookPorts extends SearchPorts {
  readonly reasons: Reasons;
}

/** Part of a request that selects messages. */
export type Wanted = Pick<LookRequest, "filter" | "only" | "isWaiting">;

/**
 * Goes through the messages of a queue, in whatever state, by the order of their places, and shows those that are
 * looked for. Nothing is leased, counted or written. Messages that cannot be read are not shown.
 *
 * @throws RangeError for a `max` that is out of range and a cursor that is none.
 */
export function look(ports: LookPorts, request: LookRequest): LookReply {
  const { max, cursor, returning, countsAll = false, isWhole = false } = request;
  if (!(Number.isInteger(max) && max >= 0 && max <= PULL_MESSAGES_MAX)) throw new RangeError(`max of ${max}`);
  const begin = cursor === undefined ? null : readCursor(cursor);
  const messages: LookedAt[] = [];
  let matched = 0;
  let shownBytes = 0;
  const { last, passed } = search(ports, request, begin?.after, (range, index, payload) => {
    if (returning !== undefined) {
      const target = sourceOf(extensionOf(payload, index)) ?? returning.fallback;
      if (target === undefined || !isAmong(returning.mayReach, target)) return true;
    }
    matched += 1;
    if (messages.length < max) {
      messages.push(lookedAt(ports, range, payload, index, isWhole));
      shownBytes += isWhole ? payload.body(index).byteLength : 0;
    }
    return countsAll || (messages.length < max && shownBytes <= WHOLE_BYTES_MAX);
  });
  const { readyCount, delayedCount, leasedCount } = ports.context.queue;
  const of = readyCount + delayedCount + leasedCount;
  const searched = (begin?.searched ?? 0) + passed;
  const next = last === null ? null : cursorOf(last, searched);
  return { messages, matched, cursor: next, searched: Math.min(searched, of), of };
}

/** How far a search came. */
export interface Searched {
  /** The message that it ended at, before the last one; `null` when every message was looked at. */
  readonly last: MessagePosition | null;
  /** Messages that were looked at. */
  readonly passed: number;
}

/**
 * Calls `found` with each message that is looked for, until it answers false or the time of a look is over.
 *
 * @param after begins behind this place. Default: at the first message.
 */
export function search(
  ports: SearchPorts,
  { filter, only, isWaiting = false }: Wanted,
  after: MessagePosition | undefined,
  found: (range: MessageRange, index: number, payload: PackedIndex) => boolean,
): Searched {
  const { queue, name, nowMs } = ports.context;
  advance(queue, nowMs);
  const matcher = new Matcher(name, nowMs, filter, only);
  const budget = new Budget(ports);
  const { positions } = matcher;
  let passed = 0;
  for (const range of positions === null ? messageRanges(queue, after) : placed(queue, positions, after)) {
    const { segmentId, from, to, state } = range;
    if ((isWaiting && state === "leased") || !matcher.fitsRange(range)) {
      passed += to - from;
      if (budget.isSpent()) return { last: { segmentId, index: to - 1 }, passed };
      continue;
    }
    for (let index = from; index < to; index++) {
      const position = { segmentId, index };
      passed += 1;
      const payload = matcher.fitsPlace(position, groupIdAt(queue, position))
        ? budget.payloadOf(segmentId)
        : null;
      const isFound = payload !== null && isReadable(payload, index) && matcher.fits(position, payload);
      const goesOn = !isFound || found(range, index, payload);
      if (!goesOn || budget.isSpent()) return { last: position, passed };
    }
  }
  return { last: null, passed };
}

/** Bounds what one look costs. */
class Budget {
  readonly #ports: SearchPorts;
  readonly #endsMs: number;
  #messages = 0;
  #bytes = 0;
  #segment: { readonly id: number; readonly payload: PackedIndex | null } | null = null;

  constructor(ports: SearchPorts) {
    this.#ports = ports;
    this.#endsMs = ports.elapsedMs() + LOOK_MS_MAX;
  }

  /** Read once for the messages of a segment that are looked at one behind the other. */
  payloadOf(id: number): PackedIndex | null {
    if (this.#segment?.id !== id) {
      const payload = this.#ports.payloadOf(id);
      this.#segment = { id, payload };
      this.#bytes += payload?.packed.byteLength ?? 0;
    }
    return this.#segment.payload;
  }

  /** Asked once for each message, or stretch of them that needs no look at each. */
  isSpent(): boolean {
    this.#messages += 1;
    if (this.#bytes > LOOK_BYTES_MAX) return true;
    return this.#messages % MESSAGES_PER_LOOK_AT_CLOCK === 0 && this.#ports.elapsedMs() >= this.#endsMs;
  }
}

function* placed(
  queue: Queue,
  positions: readonly MessagePosition[],
  after: MessagePosition | undefined,
): Generator<MessageRange, undefined> {
  for (const position of positions) {
    if (after !== undefined && isAtOrBefore(position, after)) continue;
    const range = rangeAt(queue, position);
    if (range !== null) yield range;
  }
}

function isAtOrBefore(a: MessagePosition, b: MessagePosition): boolean {
  return a.segmentId < b.segmentId || (a.segmentId === b.segmentId && a.index <= b.index);
}

function lookedAt(
  { context: { queue, name }, reasons }: LookPorts,
  range: MessageRange,
  payload: PackedIndex,
  index: number,
  isWhole: boolean,
): LookedAt {
  const position = { segmentId: range.segmentId, index };
  const body = payload.body(index);
  const extension = extensionOf(payload, index);
  const sentMs = payload.timestampMs(index);
  return {
    id: payload.id(index),
    ref: encodeToken(name, "ref", { ...position, leaseId: 0 }),
    state: range.state,
    attempts: range.attempts,
    sentMs,
    atMs: range.atMs,
    keptUntilMs: (acceptedMsAt(queue, position) ?? 0) + queue.rules.retentionMs,
    contentType: payload.knownContentType(index),
    bodyBytes: body.byteLength,
    // A copy: a view would take its whole segment along.
    body: body.slice(0, isWhole ? body.byteLength : PREVIEW_BYTES_MAX),
    group: groupIdAt(queue, position) ?? extension.groupId ?? null,
    attributes: extension.attributes?.slice() ?? null,
    from: sourceOf(extension),
    why: reasons.of(range, index, { delaySeconds: payload.delaySeconds(index), sentMs }),
  };
}

interface Cursor {
  readonly after: MessagePosition;
  readonly searched: number;
}

function cursorOf({ segmentId, index }: MessagePosition, searched: number): string {
  return `${segmentId}-${index}-${searched}`;
}

function readCursor(text: string): Cursor {
  const [, segmentId, index, searched] = /^(\d{1,16})-(\d{1,10})-(\d{1,15})$/.exec(text) ?? [];
  if (segmentId === undefined) throw new RangeError(`"${text}" is no cursor`);
  return { after: { segmentId: Number(segmentId), index: Number(index) }, searched: Number(searched) };
}
