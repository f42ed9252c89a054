import type { MessageExtension, MessagePast, PastEnd } from "@sluice/protocol";
import { beginningOf } from "./journal/event.ts";

/** Most ends in earlier queues that a message keeps: the latest ones. */
export const PAST_ENDS_MAX = 8;

/** Reads the past of a message in earlier queues; `null` if there is none that can be read. */
export function pastIn({ past }: MessageExtension): MessagePast | null {
  if (past === undefined) return null;
  try {
    const read = JSON.parse(new TextDecoder().decode(past)) as Partial<MessagePast> | null;
    return Array.isArray(read?.ends) && typeof read.queue === "string" ? (read as MessagePast) : null;
  } catch {
    return null;
  }
}

/**
 * Adds to the extension of a message how it left a queue. A contract: the past is stored as JSON with the message.
 *
 * @param first facts of the message in its first queue.
 */
export function withEnd(
  extension: MessageExtension,
  first: Omit<MessagePast, "ends">,
  end: PastEnd,
): MessageExtension {
  const known = pastIn(extension) ?? { ...first, ends: [] };
  const error = end.error === null ? null : beginningOf(end.error);
  const ends = [...known.ends, { ...end, error }].slice(-PAST_ENDS_MAX);
  return { ...extension, past: new TextEncoder().encode(JSON.stringify({ ...known, ends })) };
}
