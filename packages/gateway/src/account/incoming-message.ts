import {
  BATCH_BYTES_MAX,
  BodyDecodeError,
  type ContentType,
  decodeBody,
  MESSAGE_BYTES_MAX,
  packMessages,
  QUEUE_ERROR_CODES,
  QueueError,
} from "@sluice/protocol";

/** A message on its way in, with the body as it is stored. */
export interface IncomingMessage {
  readonly contentType: ContentType;
  readonly body: Uint8Array;
  readonly delaySeconds: number | undefined;
}

/** Packs messages, each under a new id, after a look at their bodies. Throws QueueError. */
export function pack(messages: readonly IncomingMessage[]): Uint8Array<ArrayBuffer> {
  return packMessages(
    messages.map(({ contentType, body, delaySeconds }) => {
      refuseLarge(body.byteLength);
      refuseUnreadable(body, contentType);
      const id = crypto.randomUUID().replaceAll("-", "");
      return { id, contentType, body, ...(delaySeconds === undefined ? {} : { delaySeconds }) };
    }),
  );
}

/** Throws QueueError 10205 for messages that are too large for one batch. */
export function refuseLargeBatch(messages: readonly IncomingMessage[]): void {
  const bytes = messages.reduce((sum, { body }) => sum + body.byteLength, 0);
  if (bytes <= BATCH_BYTES_MAX) return;
  throw new QueueError(
    QUEUE_ERROR_CODES.batchSizeOutOfBounds,
    `batch size of ${bytes} bytes exceeds limit of ${BATCH_BYTES_MAX}`,
  );
}

function refuseLarge(bytes: number): void {
  if (bytes <= MESSAGE_BYTES_MAX) return;
  throw new QueueError(
    QUEUE_ERROR_CODES.messageSizeOutOfBounds,
    `message length of ${bytes} bytes exceeds limit of ${MESSAGE_BYTES_MAX}`,
  );
}

function refuseUnreadable(body: Uint8Array, contentType: ContentType): void {
  try {
    decodeBody(body, contentType);
  } catch (error) {
    if (!(error instanceof BodyDecodeError)) throw error;
    throw new QueueError(QUEUE_ERROR_CODES.messageMetadataInvalid, error.message);
  }
}
