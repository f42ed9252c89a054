import { reviveClone, serializeClone } from "../v8/body.ts";
import type { ContentType } from "./packed-layout.ts";

/** Error for a stored body that is not of its content type: the whole batch fails (spec cloudflare-queues 2.5). */
export class BodyDecodeError extends Error {
  override readonly name = "BodyDecodeError";

  constructor(contentType: ContentType, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(`A message body of content type "${contentType}" could not be decoded: ${reason}`, { cause });
  }
}

const encoder = new TextEncoder();
/** A byte order mark is part of the body: the binding sends it and the consumer sees it. */
const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

/**
 * Does the first half of encoding a body (spec cloudflare-queues 1.2): everything that may run the user's code or
 * throw. Returns text to be written as UTF-8, or the bytes of a view, not copied.
 *
 * @throws TypeError with the binding's texts (1.3) when the value does not fit the content type, DOMException
 *   `DataCloneError` when `v8` cannot clone it, and whatever a `toJSON` or a getter throws. Where the binding sends the
 *   text `undefined` for a `json` body that JSON cannot express, this throws a TypeError: no consumer could ever parse
 *   it.
 */
export function serializeBody(value: unknown, contentType: ContentType): string | Uint8Array {
  switch (contentType) {
    case "text":
      if (typeof value !== "string") throw new TypeError(unfit("text", "string", value));
      return value;
    case "bytes":
      if (!ArrayBuffer.isView(value)) throw new TypeError(unfit("bytes", "ArrayBufferView", value));
      return bytesOf(value);
    case "json": {
      const text: string | undefined = JSON.stringify(value);
      if (text === undefined) throw new TypeError(unfit("json", "JSON", value));
      return text;
    }
    case "v8":
      return serializeClone(value);
  }
}

/** Encodes a body as it is stored: bytes as a view of the same memory, text as new bytes. Throws as `serializeBody`. */
export function encodeBody(value: unknown, contentType: ContentType): Uint8Array {
  const serialized = serializeBody(value, contentType);
  return typeof serialized === "string" ? encoder.encode(serialized) : serialized;
}

/**
 * Decodes a body that is not V8's own into the value that a consumer sees (spec cloudflare-queues 1.2). `bytes` are a
 * copy: the packed batch around them holds the bodies of other messages, and `body.buffer` must not show them.
 *
 * @throws BodyDecodeError when the bytes are not of that content type.
 */
export function decodeOwnBody(bytes: Uint8Array, contentType: ContentType): unknown {
  switch (contentType) {
    case "text":
      return decoder.decode(bytes);
    case "bytes":
      return bytes.slice();
    case "json":
    case "v8":
      try {
        return contentType === "json" ? JSON.parse(decoder.decode(bytes)) : reviveClone(bytes);
      } catch (cause) {
        throw new BodyDecodeError(contentType, cause);
      }
  }
}

function unfit(contentType: ContentType, wanted: string, value: unknown): string {
  return `Content Type "${contentType}" requires a value of type ${wanted}, but received: ${typeof value}`;
}

/** Returns the bytes of a view. One of a detached buffer is empty, though a DataView throws for its length. */
function bytesOf(view: ArrayBufferView): Uint8Array {
  if (view.buffer instanceof ArrayBuffer && view.buffer.detached) return new Uint8Array();
  return new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}
