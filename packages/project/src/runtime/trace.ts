import { keptTraceContext, TRACE_OPTION } from "@sluice/protocol/trace";

/** Trace context of W3C, as the headers `traceparent` and `tracestate` carry it. */
export interface TraceContext {
  /** `00-TRACE_ID-SPAN_ID-FLAGS`. */
  readonly traceparent: string;
  /** At most 512 characters. Default: none. */
  readonly tracestate?: string;
}

/**
 * Reads the trace context that a message was sent with. It stays the same over retries, dead-letter queues and move
 * tasks.
 *
 * @param message a message of a batch, as the runtime gave it to `queue()`.
 * @returns `null` for a message that was sent without one, and on another platform than Sluice.
 * @example
 * ```ts
 * import { traceContextOf } from "sluice/trace";
 *
 * async queue(batch) {
 *   for (const message of batch.messages) {
 *     await fetch(URL, { headers: { ...traceContextOf(message) } });
 *   }
 * }
 * ```
 */
export function traceContextOf(message: object): TraceContext | null {
  return keptTraceContext(message);
}

/**
 * Adds a trace context to the options of `send` and `sendBatch`, or to a message of `sendBatch`. It replaces the
 * context of OpenTelemetry's active span. Cloudflare's own queues ignore it.
 *
 * @param context a `traceparent`, or an object with a `traceparent` and perhaps a `tracestate`. A malformed
 *   `traceparent` counts as none, as W3C says.
 * @example
 * ```ts
 * await env.ORDERS.send(order, withTraceContext(request.headers.get("traceparent"), { delaySeconds: 5 }));
 * ```
 */
export function withTraceContext<Options extends object>(
  context: TraceContext | string | null | undefined,
  options?: Options,
): Options {
  return { ...options, [TRACE_OPTION]: context } as unknown as Options;
}
