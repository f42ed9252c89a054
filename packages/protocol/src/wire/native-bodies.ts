import { readV8, V8_FORMAT_BYTE } from "../v8/native.ts";
import { BodyDecodeError, decodeOwnBody, encodeBody } from "./body-codec.ts";
import { joinPacked, PackedIndex, packMessages } from "./packed.ts";
import { CONTENT_TYPES, type ContentType, OFFSET_CONTENT_TYPE, recordEnd } from "./packed-layout.ts";

/**
 * Decodes a body as `decodeOwnBody` does, or one that workerd's own binding has sent.
 *
 * @throws BodyDecodeError when the bytes are not of that content type.
 */
export function decodeBody(bytes: Uint8Array, contentType: ContentType): unknown {
  if (!isNative(bytes, contentType)) return decodeOwnBody(bytes, contentType);
  try {
    return readV8(bytes);
  } catch (cause) {
    throw new BodyDecodeError(contentType, cause);
  }
}

/**
 * Rewrites the bodies of a packed batch that workerd's own binding has sent in our own format. Returns the same bytes
 * where there are none. A body that cannot be read stays as it is, and fails at its consumer.
 */
export function withoutNativeBodies(packed: Uint8Array): Uint8Array {
  const index = new PackedIndex(packed);
  const isNativeAt = (i: number) => index.contentType(i) === "v8" && isNative(index.body(i), "v8");
  // Few deliveries have such a body, so the first pass allocates nothing.
  let first = 0;
  while (first < index.count && !isNativeAt(first)) first += 1;
  if (first === index.count) return packed;
  const records = Array.from({ length: index.count }, (_, i) =>
    isNativeAt(i) ? inOwnFormat(index, i) : index.records(i, i + 1),
  );
  return joinPacked(records);
}

/** Whether packed bytes hold a body that workerd's own binding has sent; true where they are no records. */
export function mayHoldNativeBody(packed: Uint8Array): boolean {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  for (let at = 0; at < packed.byteLength; ) {
    const end = recordEnd(view, at);
    if (end === null) return true;
    const isV8 = CONTENT_TYPES[packed[at + OFFSET_CONTENT_TYPE] ?? -1] === "v8";
    if (isV8 && packed[end - view.getUint32(at, true)] === V8_FORMAT_BYTE) return true;
    at = end;
  }
  return false;
}

function isNative(bytes: Uint8Array, contentType: ContentType): boolean {
  return contentType === "v8" && bytes[0] === V8_FORMAT_BYTE;
}

function inOwnFormat(index: PackedIndex, i: number): Uint8Array {
  const { delaySeconds, ...message } = index.message(i);
  try {
    return packMessages([
      {
        ...message,
        ...(delaySeconds === undefined ? {} : { delaySeconds }),
        body: encodeBody(readV8(message.body), "v8"),
        extension: index.extension(i),
        earlierReceives: index.earlierReceives(i),
      },
    ]);
  } catch {
    return index.records(i, i + 1);
  }
}
