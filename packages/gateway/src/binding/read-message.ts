import {
  type ContentType,
  isContentType,
  QUEUE_ERROR_CODES,
  QueueError,
  type SendRequest,
} from "@sluice/protocol";
import { delayIn, pack } from "../account/incoming-message.ts";

/** Reads `POST /message`: the body is the message's, headers have the rest. Throws QueueError. */
export async function readMessage(request: Request): Promise<SendRequest> {
  const { headers } = request;
  // Read to its end even when it is too large: the binding reads no answer before it has sent everything.
  const body = new Uint8Array(await request.arrayBuffer());
  const contentType = readContentType(headers.get("x-msg-fmt") ?? undefined);
  const delaySeconds = readDelayHeader(headers, "message", QUEUE_ERROR_CODES.messageMetadataInvalid);
  return { packed: pack([{ contentType, body, delaySeconds }]) };
}

/** Reads a content type, which the binding leaves out where V8's is the default (spec cloudflare-queues 1.2). */
export function readContentType(name: string | undefined): ContentType {
  if (name === undefined) return "v8";
  if (isContentType(name)) return name;
  throw new QueueError(
    QUEUE_ERROR_CODES.messageMetadataInvalid,
    `message content type ${name} is invalid; if specified, must be one of 'text', 'json', 'bytes', or 'v8'`,
  );
}

/** Reads the delay that a request names for its message or its batch; `undefined` leaves it to the queue. */
export function readDelayHeader(headers: Headers, what: string, code: number): number | undefined {
  const text = headers.get("x-msg-delay-secs");
  if (text === null) return undefined;
  if (!/^-?\d+$/.test(text)) throw new QueueError(code, `delay ${text} is no whole number of seconds`);
  return delayIn(Number(text), what, code);
}
