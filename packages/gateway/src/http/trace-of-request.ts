import { encodeTrace } from "@sluice/protocol";

/** Encodes the trace context that a request names by `traceparent` and `tracestate`; `null` for none. */
export function traceOfRequest(headers: { get(name: string): string | null }): Uint8Array | null {
  const traceparent = headers.get("traceparent");
  return traceparent === null ? null : encodeTrace(traceparent, headers.get("tracestate"));
}
