import { acknowledgesAll, type DeliveryResult } from "@sluice/protocol";
import type { Absence } from "./absence.ts";
import type { RejectedDelivery } from "./delivery-result.ts";

/** Units of a printed error in a reason. With the words behind it it fits into the beginning of a stored error. */
export const PRINTED_REASON_MAX = 130;

/**
 * Makes the function that tells why messages of a batch are retried. A handler that asks for it gives no reason: then
 * it is the error that it printed last, which may be of another message unless the batch has one or the handler printed
 * it right before it asked.
 *
 * @param count messages of the batch.
 */
export function retryReasons(
  { outcome, error, retryMessages, logs }: DeliveryResult,
  count: number,
): (id: string) => string {
  if (outcome !== "ok") {
    const reason = error ?? `its handler ended with "${outcome}"`;
    return () => reason;
  }
  const own = new Map(
    retryMessages.flatMap(({ msgId, printed }) => (typeof printed === "string" ? [[msgId, printed]] : [])),
  );
  const last = logs?.lines.findLast(({ level }) => level === "error")?.text;
  const ofBatch =
    last === undefined
      ? "its handler asked for it"
      : withPrinted(last, count === 1 ? "printed" : "printed in its batch");
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
