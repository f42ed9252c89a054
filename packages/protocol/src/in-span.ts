/** Part of `tracing` of `cloudflare:workers`. Older runtimes lack some of it, or all. */
export interface SpanTracing {
  getActiveSpan?(): { readonly isTraced: boolean } | undefined;
  enterSpan?<T>(name: string, callback: (span: AttributedSpan) => T): T;
}

/** A span that takes attributes. */
interface AttributedSpan {
  setAttribute(key: string, value: string | number): unknown;
}

/**
 * Makes a call, in a span of that name where the request is traced.
 *
 * @param tracing of `cloudflare:workers` or of a context. Default: there are no spans.
 */
export function inSpan<T>(
  tracing: SpanTracing | undefined,
  name: string,
  attributes: Readonly<Record<string, string | number>>,
  call: () => T,
): T {
  if (tracing?.enterSpan === undefined || tracing.getActiveSpan?.()?.isTraced !== true) return call();
  return tracing.enterSpan(name, (span) => {
    for (const [key, value] of Object.entries(attributes)) span.setAttribute(key, value);
    return call();
  });
}
