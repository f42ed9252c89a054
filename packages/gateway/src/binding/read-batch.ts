import {
  BATCH_MESSAGES_MAX,
  isObject,
  QUEUE_ERROR_CODES,
  QueueError,
  type SendRequest,
} from "@sluice/protocol";
import { delayIn, type IncomingMessage, pack, refuseLargeBatch } from "../account/incoming-message.ts";
import { parseJson } from "../http/bounded-json.ts";
import { readContentType, readDelayHeader } from "./read-message.ts";

/** Reads `POST /batch`: JSON with the bodies in base64. Throws QueueError. */
export async function readBatch(request: Request): Promise<SendRequest> {
  const { headers } = request;
  const items = readItems(await request.text());
  if (items.length > BATCH_MESSAGES_MAX) {
    throw new QueueError(
      QUEUE_ERROR_CODES.batchCountOutOfBounds,
      `batch message count of ${items.length} exceeds limit of ${BATCH_MESSAGES_MAX}`,
    );
  }
  const messages = items.map(readItem);
  const packed = pack(messages);
  refuseLargeBatch(messages);
  const delaySeconds = readDelayHeader(headers, "batch", QUEUE_ERROR_CODES.batchDelayInvalid);
  return delaySeconds === undefined ? { packed } : { packed, delaySeconds };
}

function readItems(text: string): unknown[] {
  let request: unknown;
  try {
    request = parseJson(text);
  } catch (error) {
    throw new QueueError(QUEUE_ERROR_CODES.jsonRequestBodyMalformed, `the request is not JSON: ${error}`);
  }
  const messages: unknown = isObject(request) ? Reflect.get(request, "messages") : undefined;
  if (!Array.isArray(messages)) throw misfit('the request must be {"messages": [...]}');
  return messages;
}

function readItem(item: unknown, position: number): IncomingMessage {
  const at = `messages[${position}]`;
  if (!isObject(item)) throw misfit(`${at} must be an object`);
  const { body, contentType, delaySecs } = item as Readonly<Record<string, unknown>>;
  if (typeof body !== "string") throw misfit(`${at}.body must be a string of base64`);
  if (contentType !== undefined && typeof contentType !== "string") {
    throw misfit(`${at}.contentType must be a string`);
  }
  if (delaySecs !== undefined && !Number.isInteger(delaySecs))
    throw misfit(`${at}.delaySecs must be an integer`);
  return {
    contentType: readContentType(contentType),
    body: fromBase64(body, at),
    delaySeconds: delayIn(
      delaySecs as number | undefined,
      "message",
      QUEUE_ERROR_CODES.messageMetadataInvalid,
    ),
  };
}

function fromBase64(text: string, at: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    throw misfit(`${at}.body must be a string of base64`);
  }
}

function misfit(reason: string): QueueError {
  return new QueueError(QUEUE_ERROR_CODES.jsonRequestBodyInvalid, reason);
}
