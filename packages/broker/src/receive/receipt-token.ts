import type { Receipt } from "@sluice/engine";
import { TOKEN_LENGTH } from "@sluice/protocol";
import { decodeToken, encodeToken } from "./message-token.ts";

/** Content of a receipt handle. */
export interface ReceiptFacts extends Receipt {
  /** Time of the receive as text, which `receivedMsOf` reads. A delete does not need it. */
  readonly received: string;
}

/** Digits of a time in ms, base 36: enough until the year 5188. */
const TIME_LENGTH = 9;
const TIME_PATTERN = /^[\da-z]+$/;

/** Latest time that was written, with its text: all messages of an answer share one. */
let written = { receivedMs: Number.NaN, text: "" };

/**
 * Encodes a receipt handle: the delivery's token, as of a pull, and its time. A contract, since clients keep handles.
 * The time has no checksum: a client that changes it changes only how long it may keep its own message.
 */
export function encodeReceipt(queue: string, receipt: Receipt, receivedMs: number): string {
  if (receivedMs !== written.receivedMs) {
    const text = Math.trunc(receivedMs).toString(36).padStart(TIME_LENGTH, "0");
    written = { receivedMs, text };
  }
  return encodeToken(queue, "lease", receipt) + written.text;
}

/** Reads a receipt handle; `null` for a text that is no handle of this queue. */
export function decodeReceipt(queue: string, text: string): ReceiptFacts | null {
  const time = text.slice(TOKEN_LENGTH);
  if (time.length !== TIME_LENGTH || !TIME_PATTERN.test(time)) return null;
  const receipt = decodeToken(queue, "lease", text.slice(0, TOKEN_LENGTH));
  if (receipt === null) return null;
  const { segmentId, index, leaseId } = receipt;
  return { segmentId, index, leaseId, received: time };
}

/** Reads the time in ms at which a message was received. The longest visibility timeout counts from it. */
export function receivedMsOf({ received }: ReceiptFacts): number {
  return Number.parseInt(received, 36);
}
