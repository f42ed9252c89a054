import { activeTrace, encodeExtension, encodeTrace, isObject } from "@sluice/protocol";

/**
 * Makes the extension area of a message with a trace context that its sender names; `undefined` without one. A
 * `traceparent` that cannot be read is none, as W3C says: it often comes from a client.
 *
 * @param given a `traceparent`, or an object with it and perhaps a `tracestate`.
 * @throws TypeError for anything else.
 */
export function traceExtension(given: unknown): Uint8Array | undefined {
  if (given === undefined || given === null) return undefined;
  const { traceparent, tracestate } = (isObject(given) ? given : { traceparent: given }) as {
    readonly traceparent?: unknown;
    readonly tracestate?: unknown;
  };
  if (typeof traceparent !== "string") {
    throw new TypeError(
      `The trace context of a message has a traceparent, which is a string, not ${typeof traceparent}`,
    );
  }
  const trace = encodeTrace(traceparent, typeof tracestate === "string" ? tracestate : "");
  return trace === null ? undefined : encodeExtension({ trace });
}

/** Makes the extension area of a message that is sent within a span of OpenTelemetry; `undefined` elsewhere. */
export function activeTraceExtension(): Uint8Array | undefined {
  const trace = activeTrace();
  return trace === null ? undefined : encodeExtension({ trace });
}
