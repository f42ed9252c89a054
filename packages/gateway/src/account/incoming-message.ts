import {
  BATCH_BYTES_MAX,
  BodyDecodeError,
  type ContentType,
  DELAY_SECONDS_MAX,
  decodeBody,
  MESSAGE_BYTES_MAX,
  type MessageExtension,
  packMessages,
  QUEUE_ERROR_CODES,
  QueueError,
} from "@sluice/protocol";

/** A message on its way in, with the body as it is stored. */
export interface IncomingMessage {
  readonly contentType: ContentType;
  readonly body: Uint8Array;
  readonly delaySeconds: number | undefined;
  /** Extension that other dialects add to it. Default: none. */
  readonly extension?: MessageExtension;
}

/**
 * Checks the bodies of messages, and packs each message under a new id. Throws QueueError.
 *
 * @param bytesMax most bytes of a body. Default: the limit of Cloudflare's queues.
 */
export function pack(
  messages: readonly IncomingMessage[],
  bytesMax: number = MESSAGE_BYTES_MAX,
): Uint8Array<ArrayBuffer> {
  return packMessages(
    messages.map((message) => {
      checkBody(message, bytesMax);
      const { contentType, body, delaySeconds, extension } = message;
      const id = crypto.randomUUID().replaceAll("-", "");
      return {
        id,
        contentType,
        body,
        ...(delaySeconds === undefined ? {} : { delaySeconds }),
        ...(extension === undefined ? {} : { extension }),
      };
    }),
  );
}

/** Throws QueueError for a body that is too large, or that no consumer could read. */
export function checkBody({ body, contentType }: IncomingMessage, bytesMax: number): void {
  refuseLarge(body.byteLength, bytesMax);
  refuseUnreadable(body, contentType);
}

/**
 * Reads a delay that a request names; `undefined` if it names none.
 *
 * @throws QueueError `code` unless it is a whole number of seconds from 0 to `DELAY_SECONDS_MAX`.
 */
export function delayIn(seconds: number | null | undefined, what: string, code: number): number | undefined {
  if (seconds === null || seconds === undefined) return undefined;
  if (Number.isInteger(seconds) && seconds >= 0 && seconds <= DELAY_SECONDS_MAX) return seconds;
  throw new QueueError(
    code,
    `${what} delay of ${seconds} is not a whole number of seconds from 0 to ${DELAY_SECONDS_MAX}`,
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

function refuseLarge(bytes: number, bytesMax: number): void {
  if (bytes <= bytesMax) return;
  throw new QueueError(
    QUEUE_ERROR_CODES.messageSizeOutOfBounds,
    `message length of ${bytes} bytes exceeds limit of ${bytesMax}`,
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
