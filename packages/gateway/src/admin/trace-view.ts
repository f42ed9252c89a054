import { decodeTrace, type TraceContext, traceParentIn, traceUrl } from "@sluice/protocol";

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
  const [context, parent] = [decodeTrace(stored), traceParentIn(stored)];
  return context === null || parent === null ? null : { ...traceLink(parent.traceId, template), ...context };
}

/** Names a trace, with its page if there is one. */
export function traceLink(id: string, template: string | null): Pick<TraceView, "id" | "url"> {
  return template === null ? { id } : { id, url: traceUrl(template, id) };
}
