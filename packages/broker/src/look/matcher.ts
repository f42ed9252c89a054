import { decodeAttributes } from "@sluice/aws";
import type { MessagePosition, MessageRange } from "@sluice/engine";
import {
  compares,
  type FilterTerm,
  type MessageExtension,
  type MessageFilter,
  type PackedIndex,
} from "@sluice/protocol";
import { decodeToken } from "../receive/message-token.ts";
import { BodyField } from "./body-field.ts";
import { type ByteText, longestExact } from "./byte-text.ts";

const decoder = new TextDecoder();

/** Tells by the bytes of a message, or by its last error, whether it is as a term says. */
type BytesFit = (payload: PackedIndex, index: number, lastError: () => string | null) => boolean;

/** Filter of a look. It asks first what the engine knows, because that needs no bytes of messages. */
export class Matcher {
  readonly #terms: MessageFilter;
  /** Terms that are told by the bytes of a message. */
  readonly #bytesFit: readonly BytesFit[];
  /** Ids of the only messages that are looked for; `null` for all. */
  readonly #ids: ReadonlySet<string> | null;
  /** Places of the only messages that are looked for, from their refs; `null` for all. */
  readonly #places: ReadonlySet<string> | null;
  /** Positions of all messages that are looked for, in order, where refs alone name them; else `null`. */
  readonly positions: readonly MessagePosition[] | null;
  /** Whether matching reads bytes of messages. */
  readonly #readsBytes: boolean;

  /**
   * @param only ids, in hexadecimal with or without hyphens, and refs. A text that is neither matches no message.
   *   Default: every message.
   */
  constructor(queue: string, nowMs: number, filter: MessageFilter = [], only?: readonly string[]) {
    this.#terms = filter;
    this.#bytesFit = filter.map((term) => bytesFitOf(term, nowMs)).filter((fits) => fits !== null);
    const positions = only?.map((name) => decodeToken(queue, "ref", name)) ?? [];
    const refs = positions.filter((position) => position !== null);
    const ids = only?.filter((_, i) => positions[i] === null) ?? [];
    this.#ids = only === undefined ? null : new Set(ids.map((id) => id.replaceAll("-", "").toLowerCase()));
    this.#places = only === undefined ? null : new Set(refs.map(placeOf));
    const isRefsOnly = only !== undefined && ids.length === 0;
    this.positions = isRefsOnly ? refs.sort((a, b) => a.segmentId - b.segmentId || a.index - b.index) : null;
    this.#readsBytes = ids.length > 0 || this.#bytesFit.length > 0;
  }

  /** Whether messages of a range may match, by their state and attempts. */
  fitsRange({ state, attempts }: MessageRange): boolean {
    return this.#terms.every((term) => {
      if (term.field === "state") return term.state === state;
      return term.field !== "attempts" || compares(attempts, term.is, term.count);
    });
  }

  /** Whether a message may match, by its place and group. None of its bytes are read. */
  fitsPlace(position: MessagePosition, group: string | null): boolean {
    if (this.#places !== null && this.#ids?.size === 0 && !this.#places.has(placeOf(position))) return false;
    return this.#terms.every((term) => term.field !== "group" || term.group === group);
  }

  /**
   * Whether a message matches, by its bytes, once `fitsRange` and `fitsPlace` have let it through.
   *
   * @param lastError looks up its last error. Called only for a filter of errors.
   */
  fits(position: MessagePosition, payload: PackedIndex, lastError: () => string | null): boolean {
    if (!this.#readsBytes) return true;
    const { index } = position;
    if (
      this.#ids !== null &&
      this.#places?.has(placeOf(position)) !== true &&
      !this.#ids.has(payload.id(index))
    ) {
      return false;
    }
    return this.#bytesFit.every((fits) => fits(payload, index, lastError));
  }
}

/** Returns what tells by bytes whether a message fits a term; `null` for a term that is told without them. */
function bytesFitOf(term: FilterTerm, nowMs: number): BytesFit | null {
  switch (term.field) {
    case "state":
    case "attempts":
    case "group":
      return null;
    case "id":
      return (payload, index) => payload.id(index).startsWith(term.prefix);
    case "body":
      return bodyFits(term.text.toLowerCase());
    case "error": {
      const text = term.text.toLowerCase();
      return (_payload, _index, lastError) => lastError()?.toLowerCase().includes(text) ?? false;
    }
    case "json": {
      const field = new BodyField(term);
      return (payload, index) => field.isIn(payload, index);
    }
    case "age":
      return (payload, index) => compares(nowMs - payload.timestampMs(index), term.is, term.ms);
    case "attr":
      return (payload, index) => attributeOf(extensionOf(payload, index), term.name) === term.value;
    case "from":
      return (payload, index) => sourceOf(extensionOf(payload, index)) === term.queue;
  }
}

/** @param text in small letters. */
function bodyFits(text: string): BytesFit {
  // A character without capitals has one way to be written. Only bodies that have these are decoded.
  const exact: ByteText | null = longestExact(text, (c) => c < "\x80" || c.toUpperCase() === c);
  return (payload, index) => {
    const body = payload.body(index);
    if (exact?.isIn(body, 0, body.byteLength) === false) return false;
    return decoder.decode(body).toLowerCase().includes(text);
  };
}

/** Returns the queue that dead-lettered a message; `null` for none. */
export function sourceOf({ deadLetterSource, deadLetterOf }: MessageExtension): string | null {
  return deadLetterSource ?? deadLetterOf ?? null;
}

/** Reads what other dialects have stored with a message; empty if there is nothing that can be read. */
export function extensionOf(payload: PackedIndex, index: number): MessageExtension {
  return payload.hasExtension(index) && payload.hasReadableExtension(index) ? payload.extension(index) : {};
}

function attributeOf({ attributes: stored }: MessageExtension, name: string): string | undefined {
  if (stored === undefined) return undefined;
  const { attributes } = decodeAttributes(stored);
  return Object.hasOwn(attributes, name) ? attributes[name]?.StringValue : undefined;
}

function placeOf({ segmentId, index }: MessagePosition): string {
  return `${segmentId}/${index}`;
}
