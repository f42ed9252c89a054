/** How a body was turned into bytes (spec cloudflare-queues 1.2). */
export type ContentType = "text" | "bytes" | "json" | "v8";

/** In wire order: the index of a name is its number in a packed record. A contract: append, never reorder. */
export const CONTENT_TYPES: readonly ContentType[] = ["text", "bytes", "json", "v8"];

/** Whether a text names a content type, in the spelling of the wire. */
export function isContentType(name: string): name is ContentType {
  return (CONTENT_TYPES as readonly string[]).includes(name);
}
