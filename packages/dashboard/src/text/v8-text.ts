/**
 * Shows a body of the content type `v8` (structured clone, as V8 serializes it) as text that reads like JavaScript.
 * Browsers have no function that reads this format. The tags are those of V8's `value-serializer.cc`, version 15.
 */

/** Deepest nesting that is shown. */
const DEPTH_MAX = 100;

const VIEWS: Readonly<Record<string, readonly [name: string, bytes: number]>> = {
  b: ["Int8Array", 1],
  B: ["Uint8Array", 1],
  C: ["Uint8ClampedArray", 1],
  w: ["Int16Array", 2],
  W: ["Uint16Array", 2],
  d: ["Int32Array", 4],
  D: ["Uint32Array", 4],
  h: ["Float16Array", 2],
  f: ["Float32Array", 4],
  F: ["Float64Array", 8],
  q: ["BigInt64Array", 8],
  Q: ["BigUint64Array", 8],
  "?": ["DataView", 1],
};
const ERRORS: Readonly<Record<string, string>> = {
  E: "EvalError",
  R: "RangeError",
  F: "ReferenceError",
  S: "SyntaxError",
  T: "TypeError",
  U: "URIError",
};

/** The value as text; `null` for what cannot be read. */
export function v8Text(bytes: Uint8Array): string | null {
  try {
    return new Reader(bytes).document();
  } catch {
    return null;
  }
}

class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;
  #depth = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  document(): string {
    if (this.#byte() !== 0xff) throw new RangeError("no version");
    this.#varint();
    return this.#value();
  }

  #value(): string {
    const tag = this.#tag();
    switch (tag) {
      case "_":
        return "undefined";
      case "-":
        return "empty";
      case "0":
        return "null";
      case "T":
        return "true";
      case "F":
        return "false";
      case "I": {
        const coded = this.#varint();
        return String(coded % 2 === 0 ? coded / 2 : -(coded + 1) / 2);
      }
      case "U":
        return String(this.#varint());
      case "N":
        return number(this.#double());
      case "Z":
        return `${this.#bigint()}n`;
      case '"':
      case "c":
      case "S":
        return JSON.stringify(this.#string(tag));
      case "^":
        return `[object ${this.#varint()} again]`;
      default:
        return this.#object(tag);
    }
  }

  #object(tag: string): string {
    if (++this.#depth > DEPTH_MAX) throw new RangeError("too deep");
    const text = this.#objectText(tag);
    this.#depth--;
    return text;
  }

  #objectText(tag: string): string {
    switch (tag) {
      case "o":
        return this.#braces("{", this.#properties("{"), "}");
      case "A": {
        const length = this.#varint();
        const items = Array.from({ length }, () => this.#value());
        const more = this.#properties("$");
        this.#varint();
        return this.#braces("[", [...items, ...more], "]");
      }
      case "a": {
        const length = this.#varint();
        const items = this.#properties("@");
        this.#varint();
        return `Array(${length}) ${this.#braces("{", items, "}")}`;
      }
      case "D": {
        const date = new Date(this.#double());
        return `Date ${Number.isNaN(date.getTime()) ? "invalid" : date.toISOString()}`;
      }
      case "y":
      case "x":
        return `Boolean(${tag === "y"})`;
      case "n":
        return `Number(${number(this.#double())})`;
      case "z":
        return `BigInt(${this.#bigint()})`;
      case "s":
        return `String(${JSON.stringify(this.#string(this.#tag()))})`;
      case "R": {
        const source = this.#string(this.#tag());
        this.#varint();
        return `/${source}/`;
      }
      case ";":
        return `Map ${this.#braces("{", this.#pairs(), "}")}`;
      case "'": {
        const items: string[] = [];
        while (!this.#ends(",")) items.push(this.#value());
        this.#varint();
        return `Set ${this.#braces("{", items, "}")}`;
      }
      case "B":
        return this.#buffer();
      case "r":
        return this.#error();
      default:
        throw new RangeError(`tag ${tag}`);
    }
  }

  #properties(end: string): string[] {
    const properties: string[] = [];
    while (!this.#ends(end)) {
      const name = this.#value();
      const plain = /^"[A-Za-z_$][\w$]*"$/.test(name) ? name.slice(1, -1) : name;
      properties.push(`${plain}: ${this.#value()}`);
    }
    this.#varint();
    return properties;
  }

  #pairs(): string[] {
    const pairs: string[] = [];
    while (!this.#ends(":")) pairs.push(`${this.#value()} => ${this.#value()}`);
    this.#varint();
    return pairs;
  }

  /** Reads a buffer, with its view if one is written behind it. */
  #buffer(): string {
    const bytes = this.#take(this.#varint());
    if (this.#bytes[this.#at] !== "V".charCodeAt(0)) return `ArrayBuffer <${hex(bytes)}>`;
    this.#at++;
    const [name, size] = VIEWS[this.#tag()] ?? ["ArrayBuffer", 1];
    const offset = this.#varint();
    const length = this.#varint();
    this.#varint();
    return `${name}(${length / size}) <${hex(bytes.subarray(offset, offset + length))}>`;
  }

  #error(): string {
    let name = "Error";
    let message = "";
    let stack = "";
    for (let tag = this.#tag(); tag !== "."; tag = this.#tag()) {
      if (tag === "m") message = this.#string(this.#tag());
      else if (tag === "s") stack = this.#string(this.#tag());
      else if (tag === "c") this.#value();
      else name = ERRORS[tag] ?? name;
    }
    return stack === "" ? `${name}: ${message}` : stack;
  }

  #braces(open: string, items: readonly string[], close: string): string {
    if (items.length === 0) return open + close;
    const inside = items.join(",\n").replaceAll("\n", "\n  ");
    return `${open}\n  ${inside}\n${close}`;
  }

  #string(tag: string): string {
    const bytes = this.#take(this.#varint());
    const encoding = tag === "c" ? "utf-16le" : tag === "S" ? "utf-8" : null;
    if (encoding !== null) return new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes);
    if (tag !== '"') throw new RangeError(`no string: ${tag}`);
    // Not "latin1": browsers take that for another encoding.
    return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  }

  #bigint(): bigint {
    const bits = this.#varint();
    const bytes = this.#take((bits >>> 1) & ~7);
    let value = 0n;
    for (const byte of bytes.toReversed()) value = (value << 8n) | BigInt(byte);
    return bits % 2 === 1 ? -value : value;
  }

  #double(): number {
    const value = this.#view.getFloat64(this.#at, true);
    this.#at += 8;
    return value;
  }

  #varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#byte();
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  }

  /** The next tag. Zeros before it align what follows. */
  #tag(): string {
    let byte = this.#byte();
    while (byte === 0) byte = this.#byte();
    return String.fromCharCode(byte);
  }

  #ends(tag: string): boolean {
    if (this.#bytes[this.#at] !== tag.charCodeAt(0)) return false;
    this.#at++;
    return true;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new RangeError("the end");
    return byte;
  }

  #take(length: number): Uint8Array {
    const taken = this.#bytes.subarray(this.#at, this.#at + length);
    if (taken.length !== length) throw new RangeError("the end");
    this.#at += length;
    return taken;
  }
}

function number(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

function hex(bytes: Uint8Array): string {
  const shown = [...bytes.subarray(0, 64)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return bytes.length > 64 ? `${shown} … ${bytes.length} bytes` : shown;
}
