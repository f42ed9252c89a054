import type { TraceContext } from "./trace-context.ts";

/*
 * A Worker's own modules and those that we add to it are bundled apart. What they share is registered for the whole
 * isolate. Contracts: a Worker may bundle another version of `sluice/trace`.
 */

/** Option of `send`, and of a message of `sendBatch`, with a trace context. A symbol: no other option has its name. */
export const TRACE_OPTION: unique symbol = Symbol.for("sluice.traceContext");

const REGISTRY = Symbol.for("sluice.traceContexts");

type Registered = Partial<Record<typeof REGISTRY, WeakMap<object, TraceContext>>>;

/** Keeps the trace context of a message beside it, since a message has the runtime's own properties and no others. */
export function keepTraceContext(message: object, context: TraceContext): void {
  const registered = globalThis as Registered;
  registered[REGISTRY] ??= new WeakMap();
  registered[REGISTRY].set(message, context);
}

/** The trace context of a message that a handler was given; `null` for one that has none. */
export function keptTraceContext(message: object): TraceContext | null {
  return (globalThis as Registered)[REGISTRY]?.get(message) ?? null;
}
