import { printable, type RequestHeaders } from "@sluice/aws";

/** Longest trace header: AWS names no limit, and what does not count for the size of a message must have one. */
export const TRACE_HEADER_LENGTH_MAX = 2_048;

/** Whether a text can be the `AWSTraceHeader` of a message. */
export function isTraceHeader(text: string): boolean {
  return text !== "" && text.length <= TRACE_HEADER_LENGTH_MAX && printable(text) === text;
}

/**
 * `X-Amzn-Trace-Id` of a request, which its messages go on with. What is no trace header is not the message's either:
 * it came on its way, and no sender has put it there.
 */
export function traceHeaderOf(headers: RequestHeaders): string | null {
  const text = headers.get("x-amzn-trace-id");
  return text !== null && isTraceHeader(text) ? text : null;
}
