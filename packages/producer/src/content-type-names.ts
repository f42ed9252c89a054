import { CONTENT_TYPES, type ContentType } from "@sluice/protocol";

/** A content type as the binding reads it: a string by `ToString`, which throws for a symbol. */
export function toContentTypeName(value: unknown): string | undefined {
  return value === undefined ? undefined : `${value as string}`;
}

/** The content type of `send()`, where case does not matter (spec cloudflare-queues 1.2). */
export function sendContentType(name: string | undefined): ContentType | undefined {
  return name === undefined ? undefined : (lookUp(name.toLowerCase()) ?? refuse(name));
}

/**
 * The content type of an item of `sendBatch()`, where the binding takes lower case only (spec cloudflare-queues 1.2).
 */
export function batchContentType(name: string | undefined): ContentType | undefined {
  return name === undefined ? undefined : (lookUp(name) ?? refuse(name));
}

function lookUp(name: string): ContentType | undefined {
  return CONTENT_TYPES.find((contentType) => contentType === name);
}

function refuse(name: string): never {
  throw new TypeError(`Unsupported queue message content type: ${name}`);
}
