import { V8FormatError, type V8Input } from "./input.ts";

type ViewClass = new (buffer: ArrayBuffer, byteOffset: number, length?: number) => ArrayBufferView;

interface ViewKind {
  readonly View: ViewClass;
  /** Bytes of an element. */
  readonly bytes: number;
}

/** Kinds of views by V8's letter. Where the runtime has no Float16Array, nothing can have written one. */
const KINDS: Readonly<Record<string, ViewKind | undefined>> = {
  b: { View: Int8Array, bytes: 1 },
  B: { View: Uint8Array, bytes: 1 },
  C: { View: Uint8ClampedArray, bytes: 1 },
  w: { View: Int16Array, bytes: 2 },
  W: { View: Uint16Array, bytes: 2 },
  d: { View: Int32Array, bytes: 4 },
  D: { View: Uint32Array, bytes: 4 },
  h: float16(),
  f: { View: Float32Array, bytes: 4 },
  F: { View: Float64Array, bytes: 8 },
  q: { View: BigInt64Array, bytes: 8 },
  Q: { View: BigUint64Array, bytes: 8 },
  "?": { View: DataView, bytes: 1 },
};

/** Bit of a view's flags that says that it ends where its resizable memory does. */
const FLAG_LENGTH_TRACKING = 1;

/** Reads a view of memory that was read before. Versions before 14 have no flags. */
export function readV8View(input: V8Input, buffer: ArrayBuffer, version: number): ArrayBufferView {
  const kind = KINDS[input.tag()];
  const byteOffset = input.varint();
  const byteLength = input.varint();
  const flags = version >= 14 ? input.varint() : 0;
  if (kind === undefined) throw new V8FormatError("it holds a view of an unknown kind");
  if (
    byteOffset + byteLength > buffer.byteLength ||
    byteOffset % kind.bytes !== 0 ||
    byteLength % kind.bytes !== 0
  ) {
    throw new V8FormatError("it holds a view that does not fit its memory");
  }
  const tracksLength = (flags & FLAG_LENGTH_TRACKING) !== 0;
  return tracksLength
    ? new kind.View(buffer, byteOffset)
    : new kind.View(buffer, byteOffset, byteLength / kind.bytes);
}

function float16(): ViewKind | undefined {
  const View: unknown = Reflect.get(globalThis, "Float16Array");
  return typeof View === "function" ? { View: View as ViewClass, bytes: 2 } : undefined;
}
