import { decodeTrace, type MessageExtension } from "@sluice/protocol";

/**
 * Makes the headers that carry a message's trace context to an HTTP endpoint; none for a message without one.
 *
 * @param ofDelivery `traceparent` of the delivery. Default: that of the message.
 */
export function traceHeaders(
  { trace }: MessageExtension,
  ofDelivery?: string,
): Readonly<Record<string, string>> {
  const named = decodeTrace(trace);
  if (ofDelivery === undefined) return { ...named };
  return { ...named, traceparent: ofDelivery };
}
