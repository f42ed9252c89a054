import type { MessageExtension, MessagePast, PastEnd } from "@sluice/protocol";
import { ERROR_BEGINNING_MAX } from "./event.ts";

/** Queues that gave a message up which are remembered: the last ones. */
export const PAST_ENDS_MAX = 8;

/** Reads the past that a message takes along of earlier queues; `null` if there is none, or none that can be read. */
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
 * The extension of a message that leaves a queue, with how it did.
 *
 * @param first what it was before any queue gave it up.
 */
export function withEnd(
  extension: MessageExtension,
  first: Omit<MessagePast, "ends">,
  end: PastEnd,
): MessageExtension {
  const known = pastIn(extension) ?? { ...first, ends: [] };
  const error = end.error?.split("\n", 1)[0]?.slice(0, ERROR_BEGINNING_MAX) ?? null;
  const ends = [...known.ends, { ...end, error }].slice(-PAST_ENDS_MAX);
  return { ...extension, past: new TextEncoder().encode(JSON.stringify({ ...known, ends })) };
}
