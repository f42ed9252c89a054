import {
  BATCH_MESSAGES_MAX,
  encodeBody,
  QUEUE_ERROR_CODES,
  QueueError,
  type SendRequest,
} from "@sluice/protocol";
import * as z from "zod/mini";
import { delayIn, type IncomingMessage, pack, refuseLargeBatch } from "../../account/incoming-message.ts";
import { expecting, looseNumber } from "./read-request.ts";

/**
 * A message of a push. Without a content type it is `json`. Then a string as body is refused: its sender has probably
 * forgotten `content_type: "text"` (spec cloudflare-queues 5.3). `bytes` and `v8` cannot be sent over HTTP.
 */
const message = z
  .object(
    {
      body: z.optional(z.unknown()),
      content_type: z.nullish(z.string(expecting("string"))),
      delay_seconds: looseNumber,
    },
    expecting("object"),
  )
  .check(({ value: { body, content_type }, issues }) => {
    const refuse = (text: string) =>
      issues.push({ code: "custom", path: ["body"], message: text, input: body });
    if (body === undefined) refuse("Required");
    else if (content_type === "text" && typeof body !== "string") refuse(mismatch("string", body));
    else if ((content_type ?? "json") === "json" && typeof body === "string")
      refuse(mismatch("object", body));
  });

const batch = z.object(
  { messages: z.array(message, expecting("array")), delay_seconds: looseNumber },
  expecting("object"),
);

/** `POST Q/messages`: one message. */
export const pushBody = message;
/** `POST Q/messages/batch`: 1 to `BATCH_MESSAGES_MAX` messages, and the delay of those that name none. */
export const pushBatchBody = batch;

/**
 * Packs one pushed message for its queue. Throws QueueError 10203, 10204.
 *
 * @param trace trace context of the request.
 */
export function requestOf(body: z.infer<typeof message>, trace: Uint8Array | null): SendRequest {
  return { packed: pack([incomingOf(body, trace)]) };
}

/**
 * Packs a pushed batch for its queue. Throws QueueError 10202 to 10206; the limits are those of a binding's batch.
 *
 * @param trace trace context of the request.
 */
export function batchRequestOf(body: z.infer<typeof batch>, trace: Uint8Array | null): SendRequest {
  const { length } = body.messages;
  if (length < 1 || length > BATCH_MESSAGES_MAX) {
    throw new QueueError(
      QUEUE_ERROR_CODES.batchCountOutOfBounds,
      `batch message count of ${length} is not within 1 to ${BATCH_MESSAGES_MAX}`,
    );
  }
  const delaySeconds = delayIn(body.delay_seconds, "batch", QUEUE_ERROR_CODES.batchDelayInvalid);
  const messages = body.messages.map((one) => incomingOf(one, trace));
  const packed = pack(messages);
  refuseLargeBatch(messages);
  return delaySeconds === undefined ? { packed } : { packed, delaySeconds };
}

function incomingOf(
  { body, content_type, delay_seconds }: z.infer<typeof message>,
  trace: Uint8Array | null,
): IncomingMessage {
  const contentType = content_type ?? "json";
  if (contentType !== "text" && contentType !== "json") {
    throw new QueueError(
      QUEUE_ERROR_CODES.messageMetadataInvalid,
      `message content type ${contentType} is invalid; over HTTP it must be 'text' or 'json'`,
    );
  }
  return {
    contentType,
    body: encodeBody(body, contentType),
    delaySeconds: delayIn(delay_seconds, "message", QUEUE_ERROR_CODES.messageMetadataInvalid),
    ...(trace === null ? {} : { extension: { trace } }),
  };
}

function mismatch(kind: string, value: unknown): string {
  return expecting(kind).error({ input: value });
}
