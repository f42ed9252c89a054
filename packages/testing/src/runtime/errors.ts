import type { DeliveryError } from "../api.ts";
import type { HappenedEntry } from "../wire.ts";

/** Failures that the message of several names. */
const NAMED_MAX = 3;
/** Where the frames of a stack begin. */
const FRAMES = /\n\s+at /;
/** Name of an error, as its stack begins. */
const NAME = /^([A-Za-z_$][\w$.]*)(?:: |$)/;

/** Ends a call whose answer is not waited for any more. Its message says why. */
export class UnansweredError extends Error {
  override readonly name = "UnansweredError";
}

/**
 * An error as it was thrown in a Worker.
 *
 * @param text its stack; what was thrown as a text for what has none.
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

/** An error that a delivery has ended with. */
export function deliveryError({ error = "", queue, by = "" }: HappenedEntry): DeliveryError {
  return Object.assign(errorOf(error), { queue, consumer: by });
}

/** Says of several deliveries what the first ones have failed with. */
export function failuresText(errors: readonly DeliveryError[]): string {
  const named = errors.slice(0, NAMED_MAX).map(({ queue, consumer, name, message }) => {
    return `\n  queue "${queue}", consumer "${consumer}": ${name}: ${message}`;
  });
  const more = errors.length > NAMED_MAX ? `\n  and ${errors.length - NAMED_MAX} more` : "";
  return `${errors.length} deliveries have failed:${named.join("")}${more}`;
}
