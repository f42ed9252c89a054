import { acknowledgesAll, type DeliveryResult } from "@sluice/protocol";
import { sourcePlace, withPlace } from "@sluice/protocol/stack";
import { ERROR_BEGINNING_MAX } from "../history/journal/event.ts";
import type { Absence } from "./absence.ts";
import type { RejectedDelivery } from "./delivery-result.ts";

/** Units of a printed error in a reason. With the words behind it, it fits into the beginning of a stored error. */
export const PRINTED_REASON_MAX = 130;
/** Units of a place in a reason: a longer one is left out. */
export const PRINTED_PLACE_MAX = 60;

/**
 * Returns the reason for which a delivery failed as a whole, with its place in the user's code where that is known;
 * `null` for one that did not.
 */
export function failureReason({
  outcome,
  error,
  stack,
}: Pick<DeliveryResult, "outcome" | "error" | "stack">): string | null {
  if (outcome === "ok") return null;
  return withPlace(error ?? `its handler ended with "${outcome}"`, typeof stack === "string" ? stack : "");
}

/**
 * Makes the function that tells why messages of a batch are retried. A handler that asks for it gives no reason: then
 * it is the error that it printed right before it asked. Without one it is the error that it threw, else the error that
 * it printed last, which may be of another message unless the batch has one.
 *
 * @param count messages of the batch.
 */
export function retryReasons(result: DeliveryResult, count: number): (id: string) => string {
  const { retryMessages, logs } = result;
  const own = new Map(
    retryMessages.flatMap(({ msgId, printed }) => (typeof printed === "string" ? [[msgId, printed]] : [])),
  );
  const errors = (logs?.lines ?? []).filter(({ level }) => level === "error").map(({ text }) => text);
  const last = errors.at(-1);
  const ofBatch =
    failureReason(result) ??
    (last === undefined
      ? "its handler asked for it"
      : withPrinted(last, count === 1 ? "printed" : "printed in its batch"));
  return (id) => {
    const printed = own.get(id);
    if (printed === undefined) return ofBatch;
    // The line of the log has the frames.
    return withPrinted(errors.findLast((text) => text.startsWith(printed)) ?? printed, "printed");
  };
}

/** Returns the reason of the first retry that a handler asks for; `null` if it asks for none. */
export function firstRetryReason(
  result: DeliveryResult | RejectedDelivery | Absence,
  count: number,
): string | null {
  if (!("outcome" in result) || acknowledgesAll(result)) return null;
  return retryReasons(result, count)(result.retryMessages[0]?.msgId ?? "");
}

function withPrinted(text: string, how: string): string {
  const [line = ""] = text.split("\n", 1);
  const place = sourcePlace(text);
  const at = place === null || place.length > PRINTED_PLACE_MAX ? "" : ` at ${place}`;
  const words = ` (${how}${at}; its handler asked for the retry)`;
  const unitsMax = Math.min(PRINTED_REASON_MAX, ERROR_BEGINNING_MAX - words.length);
  return (line.length > unitsMax ? `${line.slice(0, unitsMax - 1)}…` : line) + words;
}
