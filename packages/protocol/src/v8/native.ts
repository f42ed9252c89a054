import { V8FormatError, V8Input } from "./input.ts";
import { readV8View } from "./views.ts";

/** First byte of what V8's own serializer writes; a version follows. */
export const V8_FORMAT_BYTE = 0xff;
/** Versions that are read: from 13 on the layout is the one below; 14 gave views their flags, 15 errors their order. */
const VERSION_MIN = 13;
const VERSION_MAX = 15;

/** Flags of regular expressions, by bit. `l` is V8's own and off everywhere. */
const REGEXP_FLAGS = "gimyus?dv";
const ERRORS: Readonly<Record<string, () => Error>> = {
  E: () => new EvalError(),
  R: () => new RangeError(),
  F: () => new ReferenceError(),
  S: () => new SyntaxError(),
  T: () => new TypeError(),
  U: () => new URIError(),
};
/** Marker for an index of an array that holds nothing. */
const HOLE = Symbol("hole");

/**
 * Reads what V8's `ValueSerializer` wrote: the `v8` bodies of workerd's own queue binding (spec cloudflare-queues 1.2).
 * workerd has its own reader, which no Worker can call, so this is one in JavaScript. The tests run both.
 *
 * @throws V8FormatError for anything else, for what only a platform can read (host objects such as Headers, shared
 *   memory, WebAssembly), and for bytes that are cut off.
 */
export function readV8(bytes: Uint8Array): unknown {
  const input = new V8Input(bytes);
  if (input.byte() !== V8_FORMAT_BYTE)
    throw new V8FormatError("it does not begin as V8's serialization does");
  const version = input.varint();
  if (version < VERSION_MIN || version > VERSION_MAX) {
    throw new V8FormatError(`version ${version} of V8's serialization is not known`);
  }
  const value = new V8Reader(input, version).value();
  if (value === HOLE) throw new V8FormatError("it holds nothing");
  return value;
}

class V8Reader {
  readonly #input: V8Input;
  readonly #version: number;
  /** Every object in the order in which it was begun, by which references name it. */
  readonly #objects: unknown[] = [];

  constructor(input: V8Input, version: number) {
    this.#input = input;
    this.#version = version;
  }

  value(): unknown {
    const value = this.#valueOf(this.#input.tag());
    // A view is written after its memory, and takes its place.
    if (value instanceof ArrayBuffer && this.#input.peek() === "V") {
      this.#input.tag();
      return this.#begin(readV8View(this.#input, value, this.#version));
    }
    return value;
  }

  #valueOf(tag: string): unknown {
    const input = this.#input;
    switch (tag) {
      case "_":
        return undefined;
      case "-":
        return HOLE;
      case "0":
        return null;
      case "T":
        return true;
      case "F":
        return false;
      case "I":
        return input.zigzag();
      case "U":
        return input.varint();
      case "N":
        return input.double();
      case "Z":
        return this.#bigint();
      case '"':
      case "c":
      case "S":
        return input.text(tag);
      case "^":
        return this.#known(input.varint());
      default:
        return this.#object(tag);
    }
  }

  #object(tag: string): unknown {
    const input = this.#input;
    switch (tag) {
      case "o":
        return this.#properties(this.#begin({}), "{", 1);
      case "A":
        return this.#denseArray();
      case "a":
        return this.#properties(this.#begin(arrayOf(input.varint())), "@", 2);
      case "D":
        return this.#begin(new Date(input.double()));
      case "y":
        return this.#begin(Object(true));
      case "x":
        return this.#begin(Object(false));
      case "n":
        return this.#begin(Object(input.double()));
      case "z":
        return this.#begin(Object(this.#bigint()));
      case "s":
        return this.#begin(Object(input.text(input.tag())));
      case "R":
        return this.#begin(this.#regexp());
      case ";":
        return this.#map();
      case "'":
        return this.#set();
      case "B":
        return this.#begin(input.take(input.varint()).slice().buffer);
      case "~":
        return this.#begin(this.#resizable());
      case "r":
        return this.#error();
      case "\\":
        throw new V8FormatError("it holds an object of the platform, which only the platform can read");
      default:
        throw new V8FormatError(`it holds something of the unknown kind ${JSON.stringify(tag)}`);
    }
  }

  /** Gives an object the next number, by which references name it. */
  #begin<T>(object: T): T {
    this.#objects.push(object);
    return object;
  }

  #known(id: number): unknown {
    if (id >= this.#objects.length) throw new V8FormatError(`it refers to object ${id}, which is not there`);
    return this.#objects[id];
  }

  #bigint(): bigint {
    const bits = this.#input.varint();
    const digits = this.#input.take(bits >>> 1);
    let value = 0n;
    for (let i = digits.length - 1; i >= 0; i--) value = (value << 8n) | BigInt(digits[i] ?? 0);
    return bits % 2 === 1 ? -value : value;
  }

  /** Reads properties up to `end`, after which V8 repeats numbers that it has written before. */
  #properties<T extends object>(owner: T, end: string, repeated: number): T {
    for (let tag = this.#input.peek(); tag !== end; tag = this.#input.peek()) {
      const key = this.value();
      if (typeof key !== "string" && typeof key !== "number") {
        throw new V8FormatError("a property in it has no name");
      }
      define(owner, key, this.value());
    }
    this.#input.tag();
    for (let i = 0; i < repeated; i++) this.#input.varint();
    return owner;
  }

  #denseArray(): unknown[] {
    const length = this.#input.varint();
    if (length > this.#input.left) throw new V8FormatError("it is cut off");
    const array = this.#begin(arrayOf(length));
    for (let i = 0; i < length; i++) {
      const element = this.value();
      if (element !== HOLE) define(array, i, element);
    }
    return this.#properties(array, "$", 2);
  }

  #map(): Map<unknown, unknown> {
    const map = this.#begin(new Map<unknown, unknown>());
    while (this.#input.peek() !== ":") map.set(this.value(), this.value());
    this.#input.tag();
    this.#input.varint();
    return map;
  }

  #set(): Set<unknown> {
    const set = this.#begin(new Set<unknown>());
    while (this.#input.peek() !== ",") set.add(this.value());
    this.#input.tag();
    this.#input.varint();
    return set;
  }

  #regexp(): RegExp {
    const source = this.#input.text(this.#input.tag());
    const bits = this.#input.varint();
    const flags = [...REGEXP_FLAGS].filter((_, i) => (bits >>> i) % 2 === 1).join("");
    try {
      return new RegExp(source, flags);
    } catch (error) {
      throw new V8FormatError(`it holds a regular expression that is none: ${error}`);
    }
  }

  #resizable(): ArrayBuffer {
    const [byteLength, maxByteLength] = [this.#input.varint(), this.#input.varint()];
    const bytes = this.#input.take(byteLength);
    if (maxByteLength < byteLength) throw new V8FormatError("memory in it is larger than it may be");
    const buffer = new ArrayBuffer(byteLength, { maxByteLength });
    new Uint8Array(buffer).set(bytes);
    return buffer;
  }

  /** The kind of an error, if it is not a plain one, then its message, cause and stack as far as it has them. */
  #error(): Error {
    const input = this.#input;
    let tag = input.tag();
    const error = ERRORS[tag]?.() ?? new Error();
    if (tag in ERRORS) tag = input.tag();
    this.#begin(error);
    let hasStack = false;
    for (; tag !== "."; tag = input.tag()) {
      if (tag === "m") defineHidden(error, "message", input.text(input.tag()));
      else if (tag === "s") {
        hasStack = true;
        defineHidden(error, "stack", input.text(input.tag()));
      } else if (tag === "c") defineHidden(error, "cause", this.value());
      else throw new V8FormatError(`it holds an error with something unknown, ${JSON.stringify(tag)}`);
    }
    // The error has the stack that it was sent with, not one of this place.
    if (!hasStack) Reflect.deleteProperty(error, "stack");
    return error;
  }
}

function arrayOf(length: number): unknown[] {
  const array: unknown[] = [];
  array.length = length;
  return array;
}

/** Defines a property. An assignment would fail for one called `__proto__`. */
function define(owner: object, key: string | number, value: unknown): void {
  Object.defineProperty(owner, key, { value, enumerable: true, writable: true, configurable: true });
}

function defineHidden(owner: object, key: string, value: unknown): void {
  Object.defineProperty(owner, key, { value, enumerable: false, writable: true, configurable: true });
}
