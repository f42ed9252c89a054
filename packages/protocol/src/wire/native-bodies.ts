import { readV8, V8_FORMAT_BYTE } from "../v8/native.ts";
import { BodyDecodeError, decodeOwnBody, encodeBody } from "./body-codec.ts";
import { joinPacked, PackedIndex, packMessages } from "./packed.ts";
import type { ContentType } from "./packed-layout.ts";

/**
 * As `decodeOwnBody`, and bodies too that workerd's own binding has sent.
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
 * A packed batch in which the bodies that workerd's own binding has sent are in our own format. The same bytes where
 * there are none. One that cannot be read stays as it is: its consumer says so.
 */
export function withoutNativeBodies(packed: Uint8Array): Uint8Array {
  const index = new PackedIndex(packed);
  const isAt = (i: number) => index.contentType(i) === "v8" && isNative(index.body(i), "v8");
  // Every delivery comes here, and hardly one has such a body: most are gone through without making anything.
  let first = 0;
  while (first < index.count && !isAt(first)) first += 1;
  if (first === index.count) return packed;
  const records = Array.from({ length: index.count }, (_, i) =>
    isAt(i) ? inOwnFormat(index, i) : index.records(i, i + 1),
  );
  return joinPacked(records);
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
