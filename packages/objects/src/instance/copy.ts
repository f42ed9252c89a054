/** Depth from which on `structuredClone` copies, which handles values that contain themselves. */
const DEPTH_MAX = 64;

/**
 * Copies a value that goes into an object or comes out of it: as on the platform, an object shares memory with no other
 * code. Plain objects, arrays and bytes are copied here, several times faster than by `structuredClone`. Of bytes only
 * the view is copied: Node.js keeps many small buffers in one `ArrayBuffer`.
 *
 * @throws DataCloneError for functions and for instances of classes, which cannot be passed to objects.
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
    // An assignment would set the prototype.
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
