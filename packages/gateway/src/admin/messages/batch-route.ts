import { type AttributeValue, encodeAttributes, fromBase64, isNumberText } from "@sluice/aws";
import {
  BATCH_MESSAGES_MAX,
  CONTENT_TYPES,
  DELAY_SECONDS_MAX,
  encodeTrace,
  MESSAGE_BYTES_MAX,
  type MessageExtension,
  parseTraceparent,
  QueueError,
  type QueueRecord,
  SQS_MESSAGE_BYTES_MAX,
  unpackMessages,
} from "@sluice/protocol";
import { issueText } from "@sluice/protocol/schema";
import { Hono } from "hono";
import * as z from "zod/mini";
import { checkBody, type IncomingMessage, pack } from "../../account/incoming-message.ts";
import type { QueueDirectory } from "../../account/queue-directory.ts";
import { bodyText } from "../../http/body-text.ts";
import { parseJson } from "../../http/bounded-json.ts";
import { AdminError } from "../failure.ts";
import { queueOf } from "../queue-of.ts";
import { losesAttribute, wellFormed } from "./read-body.ts";
import { storeMessages } from "./store-messages.ts";

/** Most bytes of all bodies of a batch: one message of SQS fits. */
export const BODIES_BYTES_MAX = SQS_MESSAGE_BYTES_MAX;
/** Most attributes of a message, as SQS has it (spec sqs 5.6). */
const ATTRIBUTES_MAX = 10;

const attribute = z
  .strictObject({
    type: wellFormed.check(
      z.regex(/^(String|Number|Binary)(\..{1,249})?$/, "must be String, Number or Binary"),
    ),
    value: wellFormed,
  })
  .check(
    z.refine(
      ({ type, value }) => !type.startsWith("Number") || isNumberText(value),
      "must be a number, as its type says",
    ),
  );

/** A trace context. Members other than `traceparent` and `tracestate` are ignored. */
const trace = z.object({
  traceparent: z
    .string()
    .check(z.refine((value) => parseTraceparent(value) !== null, "must be a traceparent of W3C")),
  tracestate: z.optional(z.string()),
});

/** A message in the shape in which `GET messages` shows it; its other members are ignored. */
const message = z
  .object({
    contentType: z._default(z.enum(CONTENT_TYPES), "json"),
    text: z.nullish(wellFormed),
    base64: z.nullish(z.string()),
    delaySeconds: z.nullish(z.int().check(z.gte(0), z.lte(DELAY_SECONDS_MAX))),
    group: z.nullish(wellFormed.check(z.minLength(1), z.maxLength(128))),
    attributes: z.optional(z.record(z.string().check(z.regex(/^[\w.-]{1,256}$/)), attribute)),
    trace: z.optional(trace),
  })
  .check(
    z.refine(
      ({ text, base64 }) => (text == null) !== (base64 == null),
      "must have text, or base64, and not both",
    ),
    z.refine(
      ({ attributes = {} }) => Object.keys(attributes).length <= ATTRIBUTES_MAX,
      `must not have more than ${ATTRIBUTES_MAX} attributes`,
    ),
  );

/** Body of a request that sends a batch. */
export const batchBody = z.object({
  messages: z.array(message).check(z.minLength(1), z.maxLength(BATCH_MESSAGES_MAX)),
});

/** Route that stores messages in batches, for `sluice messages import`. */
export function batchRoute(directory: QueueDirectory): Hono {
  const app = new Hono();
  app.post("/:name/messages/batch", async (c) => {
    const record = await queueOf(c, directory);
    const ids = await sendBatch(directory, record, await bodyText(c));
    return c.json({ sent: ids.length, ids });
  });
  return app;
}

/**
 * Stores messages, all of them or none: bodies of every content type, byte for byte, with their attributes.
 *
 * @param text body of the request.
 * @returns the ids of the messages, in order.
 * @throws AdminError for a body that is no such batch, with the `index` of the message, and for a refusal of the queue.
 */
async function sendBatch(
  directory: QueueDirectory,
  { name, definition }: QueueRecord,
  text: string,
): Promise<readonly string[]> {
  const incoming = incomingBatch(text, definition.fifo !== undefined);
  const packed = pack(incoming, BODIES_BYTES_MAX);
  const hasLarge = incoming.some(({ body }) => body.byteLength > MESSAGE_BYTES_MAX);
  await storeMessages(directory, name, { packed, inTurn: true }, hasLarge);
  return unpackMessages(packed).map(({ id }) => id);
}

/**
 * Reads the messages of a request that sends a batch.
 *
 * @param isGrouped whether each must have a group.
 * @throws AdminError for a body that is no such batch, with the `index` of the message.
 */
export function incomingBatch(text: string, isGrouped: boolean): IncomingMessage[] {
  const messages = messagesIn(text);
  const ungrouped = isGrouped ? messages.findIndex(({ group }) => group == null) : -1;
  if (ungrouped !== -1) throw invalid("must have a group: the queue is a FIFO queue", ungrouped);
  const incoming = messages.map(incomingOf);
  const bytes = incoming.reduce((sum, { body }) => sum + body.byteLength, 0);
  if (bytes > BODIES_BYTES_MAX) {
    throw new AdminError(413, "batch_too_large", `Bodies of a batch have ${BODIES_BYTES_MAX} bytes at most.`);
  }
  checkBodies(incoming);
  return incoming;
}

function messagesIn(text: string): z.infer<typeof batchBody>["messages"] {
  let json: unknown;
  try {
    json = parseJson(text);
  } catch {
    throw new AdminError(400, "invalid_body", 'The body must be JSON: {"messages": [...]}.');
  }
  const read = batchBody.safeParse(json);
  if (read.success) {
    const losing = (json as { messages: unknown[] }).messages.findIndex(losesAttribute);
    if (losing !== -1) throw invalid("must not have an attribute named __proto__", losing);
    return read.data.messages;
  }
  const [issue] = read.error.issues;
  const [, index, ...path] = issue?.path ?? [];
  if (issue !== undefined && typeof index === "number") throw invalidBy({ ...issue, path }, index);
  const what = `{"messages": [...]} with 1 to ${BATCH_MESSAGES_MAX} messages`;
  throw new AdminError(400, "invalid_body", `The body must be ${what}.`);
}

function incomingOf(given: z.infer<typeof message>, index: number): IncomingMessage {
  const { contentType, text, base64, delaySeconds, group, attributes = {}, trace } = given;
  const body = text == null ? fromBase64(base64 ?? "") : new TextEncoder().encode(text);
  if (body === null) throw invalid("must have its body in base64", index);
  const stored = encodeAttributes({
    attributes: Object.fromEntries(
      Object.entries(attributes).map(([name, { type, value }]) => [name, attributeOf(type, value, index)]),
    ),
    traceHeader: null,
  });
  const context = trace === undefined ? null : encodeTrace(trace.traceparent, trace.tracestate);
  const extension: MessageExtension = {
    ...(group == null ? {} : { groupId: group }),
    ...(stored === undefined ? {} : { attributes: stored }),
    ...(context === null ? {} : { trace: context }),
  };
  return {
    contentType,
    body,
    delaySeconds: delaySeconds ?? undefined,
    ...(Object.keys(extension).length === 0 ? {} : { extension }),
  };
}

/** Throws 400 with the index of the message. */
function checkBodies(messages: readonly IncomingMessage[]): void {
  for (const [i, one] of messages.entries()) {
    try {
      checkBody(one, BODIES_BYTES_MAX);
    } catch (error) {
      if (error instanceof QueueError) throw invalid(`is refused: ${error.message}`, i);
      throw error;
    }
  }
}

function attributeOf(type: string, value: string, index: number): AttributeValue {
  if (!type.startsWith("Binary")) return { DataType: type, StringValue: value };
  const bytes = fromBase64(value);
  if (bytes === null) throw invalid("must have binary attributes in base64", index);
  return { DataType: type, BinaryValue: bytes };
}

/** Makes the error of an issue. @param issue its `path` begins in the message. @param index of the message. */
export function invalidBy(issue: Parameters<typeof issueText>[0], index: number): AdminError {
  return invalid(`is refused: ${issueText(issue)}`, index);
}

function invalid(problem: string, index: number): AdminError {
  return new AdminError(400, "invalid_message", `Message ${index} of the batch ${problem}.`, { index });
}
