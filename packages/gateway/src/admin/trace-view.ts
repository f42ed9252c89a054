import { decodeTrace, parseTraceparent, type TraceContext, traceUrl } from "@sluice/protocol";

/** Trace context of a message, as the admin API shows it. */
export interface TraceView extends TraceContext {
  /** 32 hexadecimal digits. */
  readonly id: string;
  /** Page that shows the trace. Absent where the broker knows of none. */
  readonly url?: string;
}

/**
 * Makes the view of a stored trace context; `null` for none.
 *
 * @param template URL of a page that shows a trace.
 */
export function traceView(stored: Uint8Array | undefined, template: string | null = null): TraceView | null {
  const context = decodeTrace(stored);
  if (context === null) return null;
  const id = parseTraceparent(context.traceparent)?.traceId ?? "";
  return { id, ...context, ...(template === null ? {} : { url: traceUrl(template, id) }) };
}
