import type { Receipt } from "@sluice/engine";
import { decodeToken, encodeToken, TOKEN_LENGTH } from "./message-token.ts";

/** Content of a receipt handle. */
export interface ReceiptFacts extends Receipt {
  /** When the message was received: `receivedMsOf` reads it. Who deletes a message need not know. */
  readonly received: string;
}

/** Digits of a time in ms, base 36: enough until the year 5188. */
const TIME_LENGTH = 9;
const TIME_PATTERN = /^[\da-z]+$/;

/** The time that was written last, and how: all messages of an answer have the same. */
let written = { receivedMs: Number.NaN, text: "" };

/**
 * A receipt handle: the token of the delivery, as a pull gives it out, and when it was. The time is not checked: who
 * changes it has changed for how long they may keep their own message.
 */
export function encodeReceipt(queue: string, receipt: Receipt, receivedMs: number): string {
  if (receivedMs !== written.receivedMs) {
    const text = Math.trunc(receivedMs).toString(36).padStart(TIME_LENGTH, "0");
    written = { receivedMs, text };
  }
  return encodeToken(queue, "lease", receipt) + written.text;
}

/** Reads a receipt handle; `null` for a text that is none, or one of another queue. */
export function decodeReceipt(queue: string, text: string): ReceiptFacts | null {
  const time = text.slice(TOKEN_LENGTH);
  if (time.length !== TIME_LENGTH || !TIME_PATTERN.test(time)) return null;
  const receipt = decodeToken(queue, "lease", text.slice(0, TOKEN_LENGTH));
  if (receipt === null) return null;
  const { segmentId, index, leaseId } = receipt;
  return { segmentId, index, leaseId, received: time };
}

/** When the message of a receipt was received, in ms: the longest visibility timeout counts from here. */
export function receivedMsOf({ received }: ReceiptFacts): number {
  return Number.parseInt(received, 36);
}
