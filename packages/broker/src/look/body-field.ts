import { decodeBody, type FilterTerm, mayHoldNativeBody, type PackedIndex } from "@sluice/protocol";
import { ByteText, longestExact } from "./byte-text.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** First byte of a body that V8 has serialized, in which texts and numbers have other bytes than in JSON. */
const V8_FORMAT_BYTE = 0xff;
/** Characters that every writer of JSON leaves as they are. */
const UNESCAPED = /^[\w .,:;!?@#$%*()[\]{}|~^-]$/;
const isUnescaped = (character: string) => UNESCAPED.test(character);
const QUOTE = 0x22;
const COLON = 0x3a;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;
/** `n`, `r` and `t`, which stand for blanks behind a backslash. */
const ESCAPED_BLANKS: ReadonlySet<number> = new Set([0x6e, 0x72, 0x74]);
/** Beginning of an ASCII character that a writer of JSON has escaped; two digits of its number follow. */
const ESCAPE = new ByteText("\\u00");
const isAscii = (code: number) => code >= 0x20 && code <= 0x7f;

/**
 * Most members and elements of a body that are looked at, those below several parts of the name several times. A body
 * of 128 kB has 64,000 at most. So many take half a second.
 */
const MEMBERS_MAX = 300_000;
/** Most texts within a body that are searched too, such as the `Message` of an SNS envelope, and their characters. */
export const NESTED_TEXTS_MAX = 100;
export const NESTED_CHARACTERS_MAX = 512_000;

/**
 * Field that a body may have, and the value that is looked for in it, in upper or lower case. A text within the body
 * that is JSON is searched as if its value stood in its place.
 */
export class BodyField {
  readonly #name: string;
  readonly #value: string;
  readonly #isQuoted: boolean;
  readonly #isOwn: boolean;
  readonly #number: number;
  /** Parts of the text of bodies that have the field. Looking for them is far cheaper than parsing. */
  readonly #nameText: ByteText | null;
  readonly #valueText: ByteText | null;
  /** Bytes of the value, capitals among them: a body may write each by its number. */
  readonly #valueBytes: ReadonlySet<number>;
  /** Beginning of the value; `null` where it can be written in several ways. */
  readonly #valueHead: ByteText | null;
  /** Last part of the name as it is written; `null` where that can be done in several ways. */
  readonly #member: ByteText | null;

  /** @param isOwn whether the field is a member of the body itself, under a name of one part. Default: at any depth. */
  constructor(
    { name, value, isQuoted }: Omit<FilterTerm & { readonly field: "json" }, "field">,
    isOwn = false,
  ) {
    this.#isOwn = isOwn;
    this.#name = name.toLowerCase();
    this.#value = value.toLowerCase();
    this.#isQuoted = isQuoted;
    this.#number = isQuoted ? Number.NaN : Number(value);
    const member = this.#name.slice(this.#name.lastIndexOf(".") + 1);
    this.#nameText = longestExact(member, isUnescaped);
    this.#valueText = longestExact(this.#value, isUnescaped);
    this.#valueBytes = new Set(encoder.encode(this.#value + this.#value.toUpperCase()));
    this.#member = [...member].every(isUnescaped) ? this.#nameText : null;
    this.#valueHead = [...this.#value].every(isUnescaped) ? this.#valueText : null;
  }

  /** Whether messages of a segment may have the field, by its bytes. */
  mayBeAmong(packed: Uint8Array): boolean {
    return this.#mayHaveValue(packed) || mayHoldNativeBody(packed);
  }

  /** Whether the body of message `i` may have the field, by its bytes. */
  mayBeIn(payload: PackedIndex, i: number): boolean {
    const body = payload.body(i);
    const isV8 = payload.contentType(i) === "v8";
    if (isV8 && body[0] === V8_FORMAT_BYTE) return true;
    if (!this.#mayHaveValue(body)) return false;
    // In Sluice's format of `v8` bodies a value stands apart from its name.
    const isNamed =
      this.#member === null || isV8
        ? this.#nameText?.isIn(body) !== false
        : this.#isMember(body, this.#member);
    return isNamed || hasEscapes(body, isAscii);
  }

  #mayHaveValue(bytes: Uint8Array): boolean {
    return this.#valueText?.isIn(bytes) !== false || hasEscapes(bytes, (code) => this.#valueBytes.has(code));
  }

  /** Whether a member of that name begins like the value, or is an array. */
  #isMember(body: Uint8Array, member: ByteText): boolean {
    const head = this.#valueHead;
    for (let at = 0; ; ) {
      const place = member.placeIn(body, at, body.length);
      if (place === -1) return false;
      at = place + 1;
      let next = afterBackslashes(body, place + member.length);
      if (body[next] !== QUOTE) continue;
      next = afterBlanks(body, next + 1);
      if (body[next] !== COLON) continue;
      next = afterBlanks(body, next + 1);
      if (body[next] === QUOTE) next += 1;
      if (head === null || body[afterBlanks(body, next)] === BRACKET) return true;
      if (head.isIn(body, next, Math.min(next + head.length, body.length))) return true;
    }
  }

  /** Whether the body of message `i` has the field. */
  isIn(payload: PackedIndex, i: number): boolean {
    const body = payload.body(i);
    try {
      const isV8 = payload.contentType(i) === "v8";
      const value: unknown = isV8 ? decodeBody(body, "v8") : JSON.parse(decoder.decode(body));
      return this.#isOwn
        ? hasOwnField(value, this.#name, this.#isWanted)
        : hasField(value, this.#name, this.#isWanted);
    } catch {
      return false;
    }
  }

  readonly #isWanted = (value: unknown): boolean => {
    if (typeof value === "string") return value.toLowerCase() === this.#value;
    if (value instanceof Date) return value.toJSON()?.toLowerCase() === this.#value;
    if (this.#isQuoted) return false;
    return typeof value === "number" ? value === this.#number : String(value) === this.#value;
  };
}

/** Skips the backslashes with which a text within a text escapes its quotes. */
function afterBackslashes(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at] === BACKSLASH) at += 1;
  return at;
}

/** Skips blanks, also as a text within a text writes them. */
function afterBlanks(bytes: Uint8Array, from: number): number {
  for (let at = from; ; ) {
    const next = afterBackslashes(bytes, at);
    const isBlank = next < bytes.length && (bytes[next] ?? 0) <= 0x20;
    const isEscaped = next > at && ESCAPED_BLANKS.has(bytes[next] ?? 0);
    if (!isBlank && !isEscaped) return next;
    at = next + 1;
  }
}

/** Whether bytes have such an ASCII character escaped as `\u00..`: names, quotes and values then have other bytes. */
function hasEscapes(bytes: Uint8Array, isMeant: (code: number) => boolean): boolean {
  for (let at = 0; ; ) {
    const place = ESCAPE.placeIn(bytes, at, bytes.length);
    if (place === -1) return false;
    at = place + ESCAPE.length;
    if (isMeant(16 * digitOf(bytes[at]) + digitOf(bytes[at + 1]))) return true;
  }
}

/** Returns the number of a hexadecimal digit; one that is no character for another byte. */
function digitOf(byte = 0): number {
  const digit = Number.parseInt(String.fromCharCode(byte), 16);
  return Number.isNaN(digit) ? Number.NEGATIVE_INFINITY : digit;
}

/** Offset of the part of a name that is left below a value; `null` where the whole name leads to the value. */
type Rest = number | null;

/**
 * Whether a value holds, at any depth, a field of that name whose value is wanted. Elements of arrays and sets count as
 * if they stood in their place, and so do values in texts that are JSON. Each object is visited once for each part of
 * the name, as structured clones have cycles.
 *
 * @param name in small letters, with dots between its parts.
 * @param membersMax most members and elements that are looked at; behind them nothing is found.
 */
export function hasField(
  body: unknown,
  name: string,
  isWanted: (value: unknown) => boolean,
  membersMax = MEMBERS_MAX,
): boolean {
  let left = membersMax;
  const places: { readonly value: object; readonly rest: Rest }[] = [];
  const seen = new Map<Rest, Set<object>>();
  const nested = new NestedTexts();
  const visit = (value: unknown, rest: Rest): boolean => {
    if (typeof value === "string") {
      if (rest === null && isWanted(value)) return true;
      const inside = nested.valueOf(value);
      return inside !== undefined && visit(inside, rest);
    }
    if (typeof value !== "object" || value === null || value instanceof Date) {
      return rest === null && isWanted(value);
    }
    if (ArrayBuffer.isView(value)) return false;
    const known = seen.get(rest) ?? new Set();
    if (known.has(value)) return false;
    seen.set(rest, known.add(value));
    places.push({ value, rest });
    return false;
  };
  visit(body, 0);
  for (let place = places.pop(); place !== undefined; place = places.pop()) {
    const { value, rest } = place;
    if (Array.isArray(value) || value instanceof Set) {
      left -= Array.isArray(value) ? value.length : value.size;
      if (left < 0) return false;
      for (const element of value) if (visit(element, rest)) return true;
      continue;
    }
    if (rest === null) continue;
    const members = membersOf(value);
    left -= members.length;
    if (left < 0) return false;
    for (const [key, member] of members) {
      if (rest === 0 && visit(member, 0)) return true;
      const small = String(key).toLowerCase();
      if (!name.startsWith(small, rest)) continue;
      const end = rest + small.length;
      if (end === name.length && visit(member, null)) return true;
      if (name[end] === "." && visit(member, end + 1)) return true;
    }
  }
  return false;
}

/** Whether a body is an object with a member of that name whose value is wanted. */
function hasOwnField(body: unknown, name: string, isWanted: (value: unknown) => boolean): boolean {
  if (typeof body !== "object" || body === null || Array.isArray(body) || ArrayBuffer.isView(body))
    return false;
  return membersOf(body).some(([key, member]) => String(key).toLowerCase() === name && isWanted(member));
}

/** Texts of a body that are JSON, each read once. */
class NestedTexts {
  readonly #known = new Map<string, unknown>();
  #charactersLeft = NESTED_CHARACTERS_MAX;

  /** Returns the object, list or text that a text holds as JSON; `undefined` for none, and beyond the limits. */
  valueOf(text: string): unknown {
    if (!/^\s*["[{]/.test(text)) return undefined;
    if (this.#known.has(text)) return this.#known.get(text);
    if (this.#known.size >= NESTED_TEXTS_MAX || text.length > this.#charactersLeft) return undefined;
    this.#charactersLeft -= text.length;
    const value = parsed(text);
    this.#known.set(text, value);
    return value;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function membersOf(value: object): [unknown, unknown][] {
  return value instanceof Map ? [...value] : Object.entries(value);
}
