import { decodeAttributes } from "@sluice/aws";
import type { MessagePosition } from "@sluice/engine";
import {
  compares,
  type FilterTerm,
  type MessageExtension,
  type MessageFilter,
  type MessageState,
  type PackedIndex,
} from "@sluice/protocol";
import { decodeToken } from "../receive/message-token.ts";
import { BodyField } from "./body-field.ts";
import { ByteText, longestExact } from "./byte-text.ts";
import { patternOf } from "./error-tally.ts";

const decoder = new TextDecoder();

/** Test of a message by its bytes, or by its last error. */
interface BytesTest {
  /** Rules segments out, before their bytes are verified. Default: rules none out. */
  readonly mayBeIn?: (packed: Uint8Array) => boolean;
  /** Rules messages out at little cost. Default: rules none out. */
  readonly may?: (payload: PackedIndex, index: number) => boolean;
  readonly passes: (payload: PackedIndex, index: number, lastError: () => string | null) => boolean;
}

/** Filter of a look. State, attempts, place and group come first, since the engine has them: they need no bytes. */
export class Matcher {
  readonly #terms: MessageFilter;
  /** Tests for the terms that need the bytes of a message, or its last error. */
  readonly #tests: readonly BytesTest[];
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
    const tests = filter.map((term) => testOf(term, nowMs)).filter((test) => test !== null);
    const positions = only?.map((name) => decodeToken(queue, "ref", name)) ?? [];
    const refs = positions.filter((position) => position !== null);
    const ids = only?.filter((_, i) => positions[i] === null) ?? [];
    this.#ids = only === undefined ? null : new Set(ids.map((id) => id.replaceAll("-", "").toLowerCase()));
    this.#places = only === undefined ? null : new Set(refs.map(placeOf));
    const isRefsOnly = only !== undefined && ids.length === 0;
    this.positions = isRefsOnly ? refs.sort((a, b) => a.segmentId - b.segmentId || a.index - b.index) : null;
    const [id] = this.#ids ?? [];
    // With several ids each segment has to be read.
    const isOneId = only?.length === 1 && id !== undefined && /^[0-9a-f]{32}$/.test(id);
    this.#tests = isOneId ? [idTest(id), ...tests] : tests;
    this.#readsBytes = ids.length > 0 || this.#tests.length > 0;
  }

  /** Whether messages of a range may match, by their state and attempts. */
  fitsRange({ state, attempts }: { readonly state: MessageState; readonly attempts: number }): boolean {
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

  /** Whether messages of a segment may match, by its bytes: a first look before these are verified. */
  mayBeIn(packed: Uint8Array): boolean {
    return this.#tests.every(({ mayBeIn }) => mayBeIn?.(packed) ?? true);
  }

  /**
   * Whether a message may match, by a look at its bytes, once `fitsRange` and `fitsPlace` have let it through.
   *
   * @param index of its record. Default: its index in its segment.
   */
  mayFit(position: MessagePosition, payload: PackedIndex, index = position.index): boolean {
    if (!this.#readsBytes) return true;
    if (
      this.#ids !== null &&
      this.#places?.has(placeOf(position)) !== true &&
      !this.#ids.has(payload.id(index))
    ) {
      return false;
    }
    return this.#tests.every(({ may }) => may?.(payload, index) ?? true);
  }

  /**
   * Whether a message matches, once `mayFit` has let it through. It is read for that.
   *
   * @param lastError looks up its last error. Called only for a filter of errors.
   */
  fits(payload: PackedIndex, index: number, lastError: () => string | null): boolean {
    return this.#tests.every(({ passes }) => passes(payload, index, lastError));
  }
}

/** Returns the test of a term; `null` for a term that needs no bytes. */
function testOf(term: FilterTerm, nowMs: number): BytesTest | null {
  switch (term.field) {
    case "state":
    case "attempts":
    case "group":
      return null;
    case "id":
      if (term.value === undefined) return idTest(term.prefix);
      return idOrFieldTest(term.prefix, term.value, term.isQuoted === true);
    case "body":
      return textTest(term.text.toLowerCase());
    case "error": {
      const text = term.text.toLowerCase();
      return { passes: (_payload, _index, lastError) => lastError()?.toLowerCase().includes(text) ?? false };
    }
    case "errorGroup": {
      const isAlike = errorGroupTest(term.like);
      return {
        passes: (_payload, _index, lastError) => {
          const error = lastError();
          return error !== null && isAlike(error);
        },
      };
    }
    case "json": {
      const field = new BodyField(term);
      return {
        mayBeIn: (packed) => field.mayBeAmong(packed),
        may: (payload, index) => field.mayBeIn(payload, index),
        passes: (payload, index) => field.isIn(payload, index),
      };
    }
    case "age":
      return { passes: (payload, index) => compares(nowMs - payload.timestampMs(index), term.is, term.ms) };
    case "attr":
      return {
        passes: (payload, index) => attributeOf(extensionOf(payload, index), term.name) === term.value,
      };
    case "from":
      return { passes: (payload, index) => sourceOf(extensionOf(payload, index)) === term.queue };
  }
}

/** Makes the test of an error for the group that another one, or the pattern of a group, is in. */
export function errorGroupTest(like: string): (error: string) => boolean {
  const pattern = patternOf(like);
  return (error) => patternOf(error) === pattern;
}

/** @param text in small letters. */
function textTest(text: string): BytesTest {
  // A character without capitals has one way to be written. Only bodies that have these are decoded.
  const exact = longestExact(text, (c) => c < "\x80" || c.toUpperCase() === c);
  return {
    mayBeIn: (packed) => exact?.isIn(packed) ?? true,
    may: (payload, index) => exact?.isIn(payload.body(index)) ?? true,
    passes: (payload, index) => decoder.decode(payload.body(index)).toLowerCase().includes(text),
  };
}

/** @param prefix beginning of an id, hexadecimal digits in small letters. */
function idTest(prefix: string): BytesTest {
  const bytes = Uint8Array.from(prefix.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
  const whole = bytes.length === 0 ? null : new ByteText(bytes);
  return {
    mayBeIn: (packed) => whole?.isIn(packed) ?? true,
    passes: (payload, index) => payload.id(index).startsWith(prefix),
  };
}

/** Makes the test for ids with a prefix, or bodies whose own field `id` has the value. */
function idOrFieldTest(prefix: string, value: string, isQuoted: boolean): BytesTest {
  const field = new BodyField({ name: "id", value, isQuoted }, true);
  const id = idTest(prefix);
  const isId = (payload: PackedIndex, index: number) => payload.id(index).startsWith(prefix);
  return {
    mayBeIn: (packed) => field.mayBeAmong(packed) || id.mayBeIn?.(packed) !== false,
    may: (payload, index) => isId(payload, index) || field.mayBeIn(payload, index),
    passes: (payload, index) => isId(payload, index) || field.isIn(payload, index),
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
