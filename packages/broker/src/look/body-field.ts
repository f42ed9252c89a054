import { decodeBody, type FilterTerm, type PackedIndex } from "@sluice/protocol";
import { type ByteText, longestExact } from "./byte-text.ts";

const decoder = new TextDecoder();

/** First byte of a body that V8 has serialized, in which texts and numbers have other bytes than in JSON. */
const V8_FORMAT_BYTE = 0xff;
/** Characters that every writer of JSON leaves as they are. */
const UNESCAPED = /^[\w .,:;!?@#$%*()[\]{}|~^-]$/;

/** Field that a body may have, and the value that is looked for in it. Capitals make no difference. */
export class BodyField {
  readonly #name: string;
  readonly #value: string;
  readonly #isQuoted: boolean;
  readonly #number: number;
  /** Texts that bodies with the field have in them. Looking for them among bytes is far cheaper than parsing. */
  readonly #texts: readonly ByteText[];

  constructor({ name, value, isQuoted }: Omit<FilterTerm & { readonly field: "json" }, "field">) {
    this.#name = name.toLowerCase();
    this.#value = value.toLowerCase();
    this.#isQuoted = isQuoted;
    this.#number = isQuoted ? Number.NaN : Number(value);
    const isExact = (character: string) => UNESCAPED.test(character);
    const lastName = this.#name.slice(this.#name.lastIndexOf(".") + 1);
    this.#texts = [this.#value, lastName]
      .map((text) => longestExact(text, isExact))
      .filter((text) => text !== null);
  }

  /** Whether the body of message `i` has the field. */
  isIn(payload: PackedIndex, i: number): boolean {
    const body = payload.body(i);
    const isV8 = payload.contentType(i) === "v8";
    const isNative = isV8 && body[0] === V8_FORMAT_BYTE;
    if (!isNative && !this.#texts.every((text) => text.isIn(body, 0, body.byteLength))) return false;
    try {
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

/** What is left of a name below a value; `null` where the value is what the whole name names. */
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
