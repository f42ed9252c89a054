import { isAbsolute, join } from "node:path";
import { type StackLine, stackLines } from "@sluice/protocol/stack";
import type { DeliveryError } from "../api.ts";
import type { HappenedEntry } from "../wire.ts";

/** Most failures that are named in one message. */
const NAMED_MAX = 3;
/** Start of the frames in a stack. */
const FRAMES = /\n\s+at /;
/** Name of an error at the start of its stack. */
const NAME = /^([A-Za-z_$][\w$.]*)(?:: |$)/;

/** Error of a call whose answer is no longer awaited. Its message says why. */
export class UnansweredError extends Error {
  override readonly name = "UnansweredError";
}

/**
 * Rebuilds an error that was thrown in a Worker.
 *
 * @param text its stack, or the thrown value as a text where it has none.
 */
export function errorOf(text: string): Error {
  const frames = FRAMES.exec(text)?.index;
  if (frames === undefined) return new Error(text);
  const head = text.slice(0, frames);
  const name = NAME.exec(head);
  const error = new Error(head.slice(name?.[0].length ?? 0));
  if (name?.[1] !== undefined) error.name = name[1];
  error.stack = text;
  return error;
}

/**
 * Makes the places of a stack trace absolute, which the broker has made relative to `root`: Vitest shows the lines of
 * files that it can open.
 */
export function withAbsolutePlaces(stack: string, root: string): string {
  const absolute = ({ text, kind, place }: StackLine) =>
    kind !== "user" || place === null || place.includes("://") || isAbsolute(place)
      ? text
      : text.replace(place, () => join(root, place));
  return stackLines(stack).map(absolute).join("\n");
}

/** Makes the error of a delivery. */
export function deliveryError({ error = "", queue, by = "" }: HappenedEntry): DeliveryError {
  return Object.assign(errorOf(error), { queue, consumer: by });
}

/** Describes several failed deliveries by the errors of the first ones. */
export function failuresText(errors: readonly DeliveryError[]): string {
  const named = errors.slice(0, NAMED_MAX).map(({ queue, consumer, name, message }) => {
    return `\n  queue "${queue}", consumer "${consumer}": ${name}: ${message}`;
  });
  const more = errors.length > NAMED_MAX ? `\n  and ${errors.length - NAMED_MAX} more` : "";
  return `${errors.length} deliveries have failed:${named.join("")}${more}`;
}
