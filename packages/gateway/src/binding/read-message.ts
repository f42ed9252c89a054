import {
  BodyDecodeError,
  type ContentType,
  decodeBody,
  isContentType,
  MESSAGE_BYTES_MAX,
  packMessages,
  QUEUE_ERROR_CODES,
  QueueError,
  type SendRequest,
} from "@sluice/protocol";

/** A message on its way in, with the body as it is stored. */
export interface IncomingMessage {
  readonly contentType: ContentType;
  readonly body: Uint8Array;
  readonly delaySeconds: number | undefined;
}

/** Reads `POST /message`: the body is the message's, headers say the rest. Throws QueueError. */
export async function readMessage(request: Request): Promise<SendRequest> {
  const { headers } = request;
  // Read to its end even when it is too large: the binding does not look at an answer before it has sent everything.
  const body = new Uint8Array(await request.arrayBuffer());
  const contentType = readContentType(headers.get("x-msg-fmt") ?? undefined);
  const delaySeconds = readDelayHeader(headers, QUEUE_ERROR_CODES.messageMetadataInvalid);
  return { packed: pack([{ contentType, body, delaySeconds }]) };
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

/** The binding leaves the content type out where it is V8's serialization by default (spec cloudflare-queues 1.2). */
export function readContentType(name: string | undefined): ContentType {
  if (name === undefined) return "v8";
  if (isContentType(name)) return name;
  throw new QueueError(
    QUEUE_ERROR_CODES.messageMetadataInvalid,
    `message content type ${name} is invalid; if specified, must be one of 'text', 'json', 'bytes', or 'v8'`,
  );
}

/** The delay that a request names for its message or its batch; `undefined` leaves it to the queue. */
export function readDelayHeader(headers: Headers, code: number): number | undefined {
  const text = headers.get("x-msg-delay-secs");
  if (text === null) return undefined;
  if (!/^-?\d+$/.test(text)) throw new QueueError(code, `delay ${text} is no whole number of seconds`);
  return Number(text);
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
