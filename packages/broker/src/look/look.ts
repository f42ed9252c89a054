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
import { pastIn } from "../history/past.ts";
import { encodeToken } from "../receive/message-token.ts";
import type { QueueContext } from "../turn/context.ts";
import type { Reasons } from "../why/reasons.ts";
import { ErrorTally } from "./error-tally.ts";
import { lastErrorOf } from "./last-error.ts";
import { extensionOf, Matcher, sourceOf } from "./matcher.ts";

/** Longest that a look goes through messages, in ms, because the queue does nothing else meanwhile. */
export const LOOK_MS_MAX = 100;
/** Most bytes that a look reads. They bound it where a Worker's clock stands still while it runs. */
export const LOOK_BYTES_MAX = 48_000_000;
/** Bytes of whole bodies after which an answer is full. One more body still fits into RPC's 32 MB. */
export const WHOLE_BYTES_MAX = 8_000_000;
/** Messages between two looks at the clock. One whose body is read counts as `READ_MESSAGE`, and one for each kB. */
const MESSAGES_PER_LOOK_AT_CLOCK = 256;
const READ_MESSAGE = 16;

/** Parts of a queue that a search uses. */
export interface SearchPorts {
  readonly context: Pick<QueueContext, "name" | "queue" | "nowMs" | "history">;
  /** Reads the records of a segment; `null` when they cannot be read, or `isWanted` returns false for their bytes. */
  payloadOf(segmentId: number, isWanted: (packed: Uint8Array) => boolean): PackedIndex | null;
  /** Clock in ms. It may stand still while a Worker runs. */
  elapsedMs(): number;
}

/** Parts of a queue that a look uses. */
export interface LookPorts extends SearchPorts {
  readonly reasons: Reasons;
}

/** Part of a request that selects messages. */
export type Wanted = Pick<LookRequest, "filter" | "only" | "isWaiting">;

/**
 * Lists the messages that a request looks for, in every state and in the order of their places. Nothing is leased,
 * counted or written. Messages that cannot be read are left out.
 *
 * @throws RangeError for a `max` that is out of range or an invalid cursor.
 */
export function look(ports: LookPorts, request: LookRequest): LookReply {
  const { max, cursor, returning, countsAll = false, countsErrors = false, isWhole = false } = request;
  checkMax(max);
  const begin = cursor === undefined ? null : readCursor(cursor);
  const messages: LookedAt[] = [];
  const tally = countsErrors ? new ErrorTally() : null;
  let matched = 0;
  let shownBytes = 0;
  const { last, passed } = search(ports, request, begin?.after, (range, index, payload) => {
    if (returning !== undefined) {
      const target = sourceOf(extensionOf(payload, index)) ?? returning.fallback;
      if (target === undefined || !isAmong(returning.mayReach, target)) return true;
    }
    matched += 1;
    tally?.add(lastErrorOf(ports.context, { segmentId: range.segmentId, index }, range.attempts, payload));
    if (messages.length < max) {
      messages.push(lookedAt(ports, range, payload, index, isWhole));
      shownBytes += isWhole ? payload.body(index).byteLength : 0;
    }
    return countsAll || (messages.length < max && shownBytes <= WHOLE_BYTES_MAX);
  });
  const { nowMs, queue } = ports.context;
  const { readyCount, delayedCount, leasedCount } = queue;
  const of = readyCount + delayedCount + leasedCount;
  const searched = (begin?.searched ?? 0) + passed;
  const isEnd = last === null || messageRanges(queue, last).next().done === true;
  const next = isEnd ? null : cursorOf(last, searched);
  const counted = tally === null ? {} : { errors: tally.counts };
  return { messages, matched, cursor: next, searched: Math.min(searched, of), of, nowMs, ...counted };
}

/** Throws RangeError for a number of messages that the edge should have refused. */
export function checkMax(max: number): void {
  if (!(Number.isInteger(max) && max >= 0 && max <= PULL_MESSAGES_MAX)) throw new RangeError(`max of ${max}`);
}

/** Extent of a search. */
export interface Searched {
  /** Message at which it ended early; `null` when every message was looked at. */
  readonly last: MessagePosition | null;
  /** Number of messages that were looked at. */
  readonly passed: number;
}

/**
 * Calls `found` with each message that is looked for, until it returns false or the budget of a look is spent.
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
  const budget = new Budget(ports, matcher);
  const { positions } = matcher;
  let passed = 0;
  for (const range of positions === null ? messageRanges(queue, after) : placed(queue, positions, after)) {
    const { segmentId, from, to, state } = range;
    if ((isWaiting && state === "leased") || !matcher.fitsRange(range)) {
      passed += to - from;
      if (budget.spend()) return { last: { segmentId, index: to - 1 }, passed };
      continue;
    }
    for (let index = from; index < to; index++) {
      const position = { segmentId, index };
      passed += 1;
      const fitsPlace = matcher.fitsPlace(position, groupIdAt(queue, position));
      const payload = fitsPlace ? budget.payloadOf(segmentId) : null;
      if (fitsPlace && payload === null) {
        // No message of the segment is looked for.
        passed += to - index - 1;
        if (budget.spend()) return { last: { segmentId, index: to - 1 }, passed };
        break;
      }
      const lastError = () => payload && lastErrorOf(ports.context, position, range.attempts, payload);
      const isRead = payload !== null && isReadable(payload, index) && matcher.mayFit(position, payload);
      const isFound = isRead && matcher.fits(payload, index, lastError);
      const goesOn = !isFound || found(range, index, payload);
      const spent = isRead ? READ_MESSAGE + Math.floor(payload.bodyBytes(index) / 1_000) : 1;
      if (!goesOn || budget.spend(spent)) return { last: position, passed };
    }
  }
  return { last: null, passed };
}

/** Budget of time and bytes of one look. */
class Budget {
  readonly #ports: SearchPorts;
  readonly #matcher: Matcher;
  readonly #endsMs: number;
  /** Messages since the last look at the clock. */
  #messages = 0;
  #bytes = 0;
  #segment: { readonly id: number; readonly payload: PackedIndex | null } | null = null;

  constructor(ports: SearchPorts, matcher: Matcher) {
    this.#ports = ports;
    this.#matcher = matcher;
    this.#endsMs = ports.elapsedMs() + LOOK_MS_MAX;
  }

  /**
   * Reads a segment; `null` where none of its messages can be looked for. It stays in memory while its messages are
   * looked at one after the other.
   */
  payloadOf(id: number): PackedIndex | null {
    if (this.#segment?.id !== id) {
      const isWanted = (packed: Uint8Array) => {
        this.#bytes += packed.byteLength;
        return this.#matcher.mayBeIn(packed);
      };
      this.#segment = { id, payload: this.#ports.payloadOf(id, isWanted) };
    }
    return this.#segment.payload;
  }

  /** Counts a message, or a range that needs no look at each message. @returns whether the budget is spent. */
  spend(messages = 1): boolean {
    this.#messages += messages;
    if (this.#bytes > LOOK_BYTES_MAX) return true;
    if (this.#messages < MESSAGES_PER_LOOK_AT_CLOCK) return false;
    this.#messages = 0;
    return this.#ports.elapsedMs() >= this.#endsMs;
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
  { context, reasons }: LookPorts,
  range: MessageRange,
  payload: PackedIndex,
  index: number,
  isWhole: boolean,
): LookedAt {
  const { queue, name } = context;
  const position = { segmentId: range.segmentId, index };
  const stored = storedFacts(payload, index, isWhole);
  const { sentMs } = stored;
  return {
    ...stored,
    ref: refOf(name, position),
    state: range.state,
    attempts: range.attempts,
    atMs: range.atMs,
    keptUntilMs: (acceptedMsAt(queue, position) ?? 0) + queue.rules.retentionMs,
    group: groupIdAt(queue, position) ?? stored.group,
    lastError: lastErrorOf(context, position, range.attempts, payload),
    why: reasons.of(range, index, { delaySeconds: payload.delaySeconds(index), sentMs }),
  };
}

/** Encodes the place of a message. */
export function refOf(queue: string, position: MessagePosition): string {
  return encodeToken(queue, "ref", { ...position, leaseId: 0 });
}

/** Reads the facts of a message that its record `at` has. */
export function storedFacts(payload: PackedIndex, at: number, isWhole: boolean) {
  const body = payload.body(at);
  const extension = extensionOf(payload, at);
  const gaveUp = pastIn(extension)?.ends.findLast(({ kind }) => kind === "deadLettered");
  return {
    id: payload.id(at),
    sentMs: payload.timestampMs(at),
    contentType: payload.knownContentType(at),
    bodyBytes: body.byteLength,
    // A copy, because a view would keep its whole segment in memory.
    body: body.slice(0, isWhole ? body.byteLength : PREVIEW_BYTES_MAX),
    group: extension.groupId ?? null,
    ...(extension.deduplicationId === undefined ? {} : { deduplicationId: extension.deduplicationId }),
    attributes: extension.attributes?.slice() ?? null,
    from: sourceOf(extension),
    ...(gaveUp === undefined ? {} : { attemptsBefore: gaveUp.attempts }),
    ...(extension.trace === undefined ? {} : { trace: extension.trace.slice() }),
  } satisfies Partial<LookedAt>;
}

interface Cursor {
  readonly after: MessagePosition;
  readonly searched: number;
}

export function cursorOf({ segmentId, index }: MessagePosition, searched: number): string {
  return `${segmentId}-${index}-${searched}`;
}

export function readCursor(text: string): Cursor {
  const [, segmentId, index, searched] = /^(\d{1,16})-(\d{1,10})-(\d{1,15})$/.exec(text) ?? [];
  if (segmentId === undefined) throw new RangeError(`"${text}" is no cursor`);
  return { after: { segmentId: Number(segmentId), index: Number(index) }, searched: Number(searched) };
}
