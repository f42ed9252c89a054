import { reviveClone } from "./body.ts";
import { readV8, V8_FORMAT_BYTE } from "./native.ts";

const DEPTH_MAX = 100;
/**
 * Most characters that are written, those of a value again for each value around it. A body of 100 KB can name one long
 * text 10,000 times.
 */
const WRITTEN_MAX = 4_000_000;

/** Shows a body of the content type `v8` as text that reads like JavaScript; `null` for what cannot be read. */
export function valueText(body: Uint8Array): string | null {
  try {
    return new Writer().text(body[0] === V8_FORMAT_BYTE ? readV8(body) : reviveClone(body));
  } catch {
    return null;
  }
}

class Writer {
  /** Objects that were written so far, by their numbers. */
  readonly #known = new Map<object, number>();
  #depth = 0;
  #written = 0;

  text(value: unknown): string {
    const text = this.#textOf(value);
    this.#written += text.length;
    if (this.#written > WRITTEN_MAX) throw new RangeError("too long");
    return text;
  }

  #textOf(value: unknown): string {
    if (typeof value === "string") return JSON.stringify(value);
    if (typeof value === "bigint") return `${value}n`;
    if (Object.is(value, -0)) return "-0";
    if (typeof value !== "object" || value === null) return String(value);
    const known = this.#known.get(value);
    if (known !== undefined) return `[object ${known} again]`;
    this.#known.set(value, this.#known.size);
    if (++this.#depth > DEPTH_MAX) throw new RangeError("too deep");
    const text = this.#object(value);
    this.#depth--;
    return text;
  }

  #object(value: object): string {
    if (Array.isArray(value)) return this.#array(value);
    if (value instanceof Date) {
      return `Date ${Number.isNaN(value.getTime()) ? "invalid" : value.toISOString()}`;
    }
    if (value instanceof RegExp) return `/${stringOf(value.source)}/${stringOf(value.flags)}`;
    if (value instanceof Map || value instanceof Headers) {
      return `${stringOf(value.constructor.name)} ${braces(
        "{",
        Array.from<[unknown, unknown], string>(
          value,
          ([key, item]) => `${this.text(key)} => ${this.text(item)}`,
        ),
        "}",
      )}`;
    }
    if (value instanceof Set)
      return `Set ${braces(
        "{",
        Array.from(value, (item) => this.text(item)),
        "}",
      )}`;
    if (value instanceof Error)
      return stringOf(value.stack ?? "") || `${stringOf(value.name)}: ${stringOf(value.message)}`;
    if (value instanceof ArrayBuffer) return `ArrayBuffer <${hex(new Uint8Array(value))}>`;
    if (ArrayBuffer.isView(value)) {
      const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
      const length = value instanceof DataView ? value.byteLength : (value as Uint8Array).length;
      return `${stringOf(value.constructor.name)}(${length}) <${hex(bytes)}>`;
    }
    if (value instanceof BigInt) return `BigInt(${value})`;
    if (value instanceof Boolean || value instanceof Number || value instanceof String) {
      return `${stringOf(value.constructor.name)}(${this.text(value.valueOf())})`;
    }
    return braces("{", this.#properties(value, Object.keys(value)), "}");
  }

  #array(array: readonly unknown[]): string {
    const keys = Object.keys(array);
    const isDense = keys.length >= array.length && keys[array.length - 1] === String(array.length - 1);
    if (array.length > 0 && !isDense)
      return `Array(${array.length}) ${braces("{", this.#properties(array, keys), "}")}`;
    const items = array.map((item) => this.text(item));
    return braces("[", [...items, ...this.#properties(array, keys.slice(array.length))], "]");
  }

  #properties(owner: object, names: readonly string[]): string[] {
    return names.map((name) => {
      const isPlain = /^([A-Za-z_$][\w$]*|0|[1-9]\d*)$/.test(name);
      return `${isPlain ? name : JSON.stringify(name)}: ${this.text(Reflect.get(owner, name))}`;
    });
  }
}

/** Returns a member that is a string by its type. @throws TypeError where the body has put something else there. */
function stringOf(member: unknown): string {
  if (typeof member !== "string") throw new TypeError("no string");
  return member;
}

function braces(open: string, items: readonly string[], close: string): string {
  if (items.length === 0) return open + close;
  return `${open}\n  ${items.join(",\n").replaceAll("\n", "\n  ")}\n${close}`;
}

function hex(bytes: Uint8Array): string {
  const shown = Array.from(bytes.subarray(0, 64), (byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return bytes.length > 64 ? `${shown} … ${bytes.length} bytes` : shown;
}
