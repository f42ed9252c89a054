/** Deeper than that the platform's own way of copying goes on: it knows what contains itself. */
const DEPTH_MAX = 64;

/**
 * A copy of what goes into an object, or comes out of it: as on the platform nobody shares memory with one. It takes
 * what is named by `Object`, arrays and bytes itself, which is faster than `structuredClone` by some times, and takes
 * of bytes only those that are looked at: Node.js keeps many small buffers in one piece of memory.
 *
 * @throws DataCloneError for functions, and for instances of classes, which objects cannot be given.
 */
export function copyOf(value: unknown): unknown {
  return copied(value, 0);
}

function copied(value: unknown, depth: number): unknown {
  if (value === null || typeof value !== "object") {
    return typeof value === "function" || typeof value === "symbol" ? structuredClone(value) : value;
  }
  if (Array.isArray(value)) {
    if (depth === DEPTH_MAX) return structuredClone(value);
    return value.map((item) => copied(item, depth + 1));
  }
  if (value instanceof Uint8Array) return new Uint8Array(value);
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return builtinOf(value);
  if (depth === DEPTH_MAX) return structuredClone(value);
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const inner = copied((value as Record<string, unknown>)[name], depth + 1);
    // A plain assignment would set what it is made from.
    if (name === "__proto__") Object.defineProperty(copy, name, { value: inner, ...OWN });
    else copy[name] = inner;
  }
  return copy;
}

const OWN = { enumerable: true, configurable: true, writable: true };

const BUILTINS = [Date, Map, Set, ArrayBuffer, DataView, Error, RegExp, Boolean, Number, String, BigInt];

function builtinOf(value: object): unknown {
  if (ArrayBuffer.isView(value) || BUILTINS.some((builtin) => value instanceof builtin)) {
    return structuredClone(value);
  }
  const type = value.constructor?.name ?? "unknown";
  throw new DOMException(
    `Could not serialize object of type "${type}". This type does not support serialization.`,
    "DataCloneError",
  );
}
