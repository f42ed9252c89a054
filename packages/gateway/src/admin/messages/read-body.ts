import { fromBase64 } from "@sluice/aws";
import {
  BodyDecodeError,
  type ContentType,
  DELAY_SECONDS_MAX,
  decodeBody,
  encodeBody,
  MESSAGE_BYTES_MAX,
} from "@sluice/protocol";
import type { Context } from "hono";
import * as z from "zod/mini";
import { bodyText } from "../../http/body-text.ts";
import { parseJson } from "../../http/bounded-json.ts";
import { AdminError } from "../failure.ts";

const contentType = z.enum(["json", "text", "bytes"]);
const delaySeconds = z.int().check(z.gte(0), z.lte(DELAY_SECONDS_MAX));

/** A text that UTF-8 can hold. */
export const wellFormed = z
  .string()
  .check(z.refine((value) => value.isWellFormed(), "must be well-formed Unicode"));

/** Body of a request that sends a message. */
export const sendBody = z.strictObject({
  body: z.optional(z.unknown()),
  text: z.optional(wellFormed),
  contentType: z.optional(contentType),
  delaySeconds: z.optional(delaySeconds),
  attributes: z.optional(
    z.record(z.string().check(z.minLength(1), z.maxLength(256)), z.string().check(z.minLength(1))),
  ),
  group: z.optional(z.string().check(z.minLength(1), z.maxLength(128))),
});
export const SEND_TEXT =
  'The body must be {"body": ANYTHING} or {"text": "TEXT"}, with any of "contentType" ("json", "text" or "bytes"), "delaySeconds" (0 to ' +
  `${DELAY_SECONDS_MAX}), "attributes" ({"NAME": "TEXT"}) and "group".`;

/** Body of a request that sends a message again: an absent field stays as it was. */
export const resendBody = z.strictObject({
  to: z.optional(z.string()),
  body: z.optional(z.unknown()),
  text: z.optional(wellFormed),
  contentType: z.optional(contentType),
  delaySeconds: z.optional(delaySeconds),
});
export const RESEND_TEXT =
  'The body must be {} or an object with any of "to" (a queue), "body" or "text", "contentType" ("json", "text" or ' +
  `"bytes") and "delaySeconds" (0 to ${DELAY_SECONDS_MAX}).`;

/** Reads the body of a request; `{}` if it is absent. Throws 400. @param text describes a right body, for the error. */
export async function readBody<T>(c: Context, schema: z.ZodMiniType<T>, text: string): Promise<T> {
  let json: unknown;
  try {
    const sent = await bodyText(c);
    json = sent === "" ? {} : parseJson(sent);
  } catch (error) {
    const where = error instanceof Error ? ` It is no JSON: ${error.message}.` : "";
    throw new AdminError(400, "invalid_body", `${text}${where}`);
  }
  const read = schema.safeParse(json);
  if (!read.success) throw new AdminError(400, "invalid_body", text);
  if (losesAttribute(json))
    throw new AdminError(400, "invalid_body", `${text} No attribute can be named __proto__.`);
  return read.data;
}

/** Whether a body, or a message of one, names an attribute that its schema would leave out in silence. */
export function losesAttribute(given: unknown): boolean {
  return (
    typeof given === "object" &&
    given !== null &&
    "attributes" in given &&
    Object.hasOwn(Object(given.attributes), "__proto__")
  );
}

/** A body as it is stored. */
export interface StoredBody {
  readonly contentType: ContentType;
  readonly body: Uint8Array;
}

/** A message's body as a request gives it: as a value, or as its text, which keeps each digit of JSON. */
export interface GivenBody {
  readonly body?: unknown;
  readonly text?: string | undefined;
  readonly contentType?: "json" | "text" | "bytes" | undefined;
}

/**
 * Makes the bytes of a message's body in a request. Without a content type `text` is JSON, a string as `body` is text,
 * and any other `body` is JSON. A `body` of bytes is in base64.
 *
 * @throws AdminError for a body that is not of its type, is too large, or is given in both ways.
 */
export function storedBody({ body: value, text, contentType }: GivenBody): StoredBody {
  if ((value === undefined) === (text === undefined))
    throw new AdminError(400, "invalid_body", `${SEND_TEXT} It has one of "body" and "text".`);
  const stored = text === undefined ? bodyOfValue(value, contentType) : bodyOfText(text, contentType);
  const bytes = stored.body.byteLength;
  if (bytes <= MESSAGE_BYTES_MAX) return stored;
  throw new AdminError(
    413,
    "too_large",
    `The message has ${bytes} bytes, and ${MESSAGE_BYTES_MAX} are the most.`,
  );
}

function bodyOfValue(value: unknown, type: GivenBody["contentType"]): StoredBody {
  const contentType = type ?? (typeof value === "string" ? "text" : "json");
  return {
    contentType,
    body: contentType === "json" ? encodeBody(value, "json") : bytesOf(value, contentType),
  };
}

function bodyOfText(text: string, type: GivenBody["contentType"] = "json"): StoredBody {
  return retyped(new TextEncoder().encode(text), type);
}

function bytesOf(value: unknown, as: "text" | "bytes"): Uint8Array {
  if (typeof value !== "string") {
    const what = as === "text" ? "text is a string" : "bytes are a string in base64";
    throw new AdminError(400, "invalid_body", `A body of ${what}.`);
  }
  if (as === "text") return encodeBody(value, "text");
  const bytes = fromBase64(value);
  if (bytes !== null) return bytes;
  throw new AdminError(400, "invalid_body", "A body of bytes is a string in base64.");
}

/** Checks the bytes of a body that gets another content type. Throws 400 where they do not fit it. */
export function retyped(body: Uint8Array, type: "json" | "text" | "bytes"): StoredBody {
  try {
    decodeBody(body, type);
  } catch (error) {
    if (!(error instanceof BodyDecodeError)) throw error;
    throw new AdminError(400, "invalid_body", `The body is no ${type}: ${error.message}`);
  }
  return { contentType: type, body };
}
