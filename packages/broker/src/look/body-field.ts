import { decodeBody, type FilterTerm, mayHoldNativeBody, type PackedIndex } from "@sluice/protocol";
import { type ByteText, longestExact } from "./byte-text.ts";

const decoder = new TextDecoder();

/** First byte of a body that V8 has serialized, in which texts and numbers have other bytes than in JSON. */
const V8_FORMAT_BYTE = 0xff;
/** Characters that every writer of JSON leaves as they are. */
const UNESCAPED = /^[\w .,:;!?@#$%*()[\]{}|~^-]$/;
const isUnescaped = (character: string) => UNESCAPED.test(character);
const QUOTE = 0x22;
const COLON = 0x3a;
const BRACKET = 0x5b;

/** Field that a body may have, and the value that is looked for in it. Capitals make no difference. */
export class BodyField {
  readonly #name: string;
  readonly #value: string;
  readonly #isQuoted: boolean;
  readonly #number: number;
  /** Parts of the text of bodies that have the field. Looking for them is far cheaper than parsing. */
  readonly #nameText: ByteText | null;
  readonly #valueText: ByteText | null;
  /** Beginning of the value; `null` where it can be written in several ways. */
  readonly #valueHead: ByteText | null;
  /** Last part of the name as it is written; `null` where that can be done in several ways. */
  readonly #member: ByteText | null;

  constructor({ name, value, isQuoted }: Omit<FilterTerm & { readonly field: "json" }, "field">) {
    this.#name = name.toLowerCase();
    this.#value = value.toLowerCase();
    this.#isQuoted = isQuoted;
    this.#number = isQuoted ? Number.NaN : Number(value);
    const member = this.#name.slice(this.#name.lastIndexOf(".") + 1);
    this.#nameText = longestExact(member, isUnescaped);
    this.#valueText = longestExact(this.#value, isUnescaped);
    this.#member = [...member].every(isUnescaped) ? this.#nameText : null;
    this.#valueHead = [...this.#value].every(isUnescaped) ? this.#valueText : null;
  }

  /** Whether messages of a segment may have the field, by its bytes. */
  mayBeAmong(packed: Uint8Array): boolean {
    return this.#valueText?.isIn(packed) !== false || mayHoldNativeBody(packed);
  }

  /** Whether the body of message `i` may have the field, by its bytes. */
  mayBeIn(payload: PackedIndex, i: number): boolean {
    const body = payload.body(i);
    const isV8 = payload.contentType(i) === "v8";
    if (isV8 && body[0] === V8_FORMAT_BYTE) return true;
    if (this.#valueText?.isIn(body) === false) return false;
    // In our format of `v8` a value stands apart from its name.
    if (this.#member === null || isV8) return this.#nameText?.isIn(body) ?? true;
    return this.#isMember(body, this.#member);
  }

  /** Whether a member of that name begins like the value, or is an array. */
  #isMember(body: Uint8Array, member: ByteText): boolean {
    const head = this.#valueHead;
    for (let at = 0; ; ) {
      const place = member.placeIn(body, at, body.length);
      if (place === -1) return false;
      at = place + 1;
      let next = place + member.length;
      if (body[next] !== QUOTE) continue;
      next = afterBlanks(body, next + 1);
      if (body[next] !== COLON) continue;
      next = afterBlanks(body, next + 1);
      if (body[next] === BRACKET || head === null) return true;
      if (body[next] === QUOTE) next += 1;
      if (head.isIn(body, next, Math.min(next + head.length, body.length))) return true;
    }
  }

  /** Whether the body of message `i` has the field. */
  isIn(payload: PackedIndex, i: number): boolean {
    const body = payload.body(i);
    try {
      const isV8 = payload.contentType(i) === "v8";
      const value: unknown = isV8 ? decodeBody(body, "v8") : JSON.parse(decoder.decode(body));
      return hasField(value, this.#name, this.#isWanted);
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

function afterBlanks(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && (bytes[at] ?? 0) <= 0x20) at += 1;
  return at;
}

/** Part of a name that is left below a value; `null` where the whole name leads to the value. */
type Rest = string | null;

/**
 * Whether a value holds, however deep, a field of that name whose value is wanted. Elements of arrays and sets count as
 * if they stood in their place. It visits each object once for each part of the name, as structured clones have cycles.
 *
 * @param name in small letters, with dots between its parts.
 */
export function hasField(body: unknown, name: string, isWanted: (value: unknown) => boolean): boolean {
  const places: { readonly value: object; readonly rest: Rest }[] = [];
  const seen = new Map<Rest, Set<object>>();
  const visit = (value: unknown, rest: Rest): boolean => {
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
  visit(body, name);
  for (let place = places.pop(); place !== undefined; place = places.pop()) {
    const { value, rest } = place;
    if (Array.isArray(value) || value instanceof Set) {
      for (const element of value) if (visit(element, rest)) return true;
      continue;
    }
    if (rest === null) continue;
    for (const [key, member] of membersOf(value)) {
      if (rest === name && visit(member, name)) return true;
      const small = String(key).toLowerCase();
      if (small === rest && visit(member, null)) return true;
      if (rest.startsWith(`${small}.`) && visit(member, rest.slice(small.length + 1))) return true;
    }
  }
  return false;
}

function membersOf(value: object): Iterable<[unknown, unknown]> {
  return value instanceof Map ? value : Object.entries(value);
}
