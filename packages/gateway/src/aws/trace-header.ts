import { printable, type RequestHeaders } from "@sluice/aws";

/**
 * Longest trace header, in characters. AWS names no limit, but data that does not count for the size of a message needs
 * one.
 */
export const TRACE_HEADER_LENGTH_MAX = 2_048;

/** Whether a text can be the `AWSTraceHeader` of a message. */
export function isTraceHeader(text: string): boolean {
  return text !== "" && text.length <= TRACE_HEADER_LENGTH_MAX && printable(text) === text;
}

/**
 * Reads `X-Amzn-Trace-Id` of a request, which its messages carry on; `null` for a text that is no trace header: it was
 * added on the way, and not by the sender.
 */
export function traceHeaderOf(headers: RequestHeaders): string | null {
  const text = headers.get("x-amzn-trace-id");
  return text !== null && isTraceHeader(text) ? text : null;
}
