import { type ContentType, MESSAGE_BYTES_MAX, UTF8_BYTES_PER_UNIT_MAX } from "@sluice/protocol";

/** A message whose body is serialized: from here on no code of the user's runs. */
export interface OutgoingMessage {
  readonly contentType: ContentType;
  /** Text that will be UTF-8, or bytes. */
  readonly body: string | Uint8Array;
  readonly delaySeconds: number | undefined;
  /** Extension area of its record, with its trace context. Default: none. */
  readonly extension?: Uint8Array | undefined;
}

export interface MeasuredMessages {
  readonly messages: readonly OutgoingMessage[];
  /** Sizes of the bodies in bytes, or upper bounds of them when no limit is near. */
  readonly sizes: readonly number[];
}

const encoder = new TextEncoder();

/**
 * Measures the bodies. The UTF-8 length of a text is known once it is encoded, which the packing does anyway. So an
 * upper bound serves as long as all texts together cannot break the limit of one message; else they are turned into
 * bytes.
 */
export function measure(messages: readonly OutgoingMessage[]): MeasuredMessages {
  const bounds: number[] = [];
  let bound = 0;
  for (const { body } of messages) {
    const bytes = typeof body === "string" ? body.length * UTF8_BYTES_PER_UNIT_MAX : body.byteLength;
    bounds.push(bytes);
    bound += bytes;
  }
  if (bound <= MESSAGE_BYTES_MAX) return { messages, sizes: bounds };
  const encoded = messages.map((message) => ({ ...message, body: toBytes(message.body) }));
  return { messages: encoded, sizes: encoded.map(({ body }) => body.byteLength) };
}

function toBytes(body: string | Uint8Array): Uint8Array {
  return typeof body === "string" ? encoder.encode(body) : body;
}
