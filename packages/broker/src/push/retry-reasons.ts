import { acknowledgesAll, type DeliveryResult } from "@sluice/protocol";
import type { Absence } from "./absence.ts";
import type { RejectedDelivery } from "./delivery-result.ts";

/** Units of a printed error in a reason. With the words behind it it fits into the beginning of a stored error. */
export const PRINTED_REASON_MAX = 130;

/** Returns the reason for which a delivery failed as a whole; `null` for one that did not. */
export function failureReason({ outcome, error }: Pick<DeliveryResult, "outcome" | "error">): string | null {
  return outcome === "ok" ? null : (error ?? `its handler ended with "${outcome}"`);
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
  const last = logs?.lines.findLast(({ level }) => level === "error")?.text;
  const ofBatch =
    failureReason(result) ??
    (last === undefined
      ? "its handler asked for it"
      : withPrinted(last, count === 1 ? "printed" : "printed in its batch"));
  return (id) => {
    const printed = own.get(id);
    return printed === undefined ? ofBatch : withPrinted(printed, "printed");
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
  const line = text.split("\n", 1)[0] ?? "";
  const beginning = line.length > PRINTED_REASON_MAX ? `${line.slice(0, PRINTED_REASON_MAX - 1)}…` : line;
  return `${beginning} (${how}; its handler asked for the retry)`;
}
