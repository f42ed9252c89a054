import { encodeTrace, formatTraceparent, parseTraceparent, type TraceContext } from "./trace-context.ts";

/*
 * `@opentelemetry/api` keeps what a program registers under a symbol that names its major version, so that all copies
 * of the library find it. Context keys are registered symbols too. That is all that is used of it here: it is not
 * imported, and a Worker without it pays for one look at a global.
 */
const API = Symbol.for("opentelemetry.js.api.1");
const SPAN = Symbol.for("OpenTelemetry Context Key SPAN");

/** Immutable values that belong to what runs now, as OpenTelemetry has them. */
interface Context {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): Context;
}

interface ContextManager {
  active(): Context;
  with<Result>(context: Context, run: () => Result): Result;
}

/** Part of a span that names it. */
interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
  readonly isRemote?: boolean;
  readonly traceState?: { serialize(): string };
}

function contextManager(): ContextManager | undefined {
  return (globalThis as { readonly [API]?: { readonly context?: ContextManager } })[API]?.context;
}

/** Encodes the context of the active span, as records store it; `null` where there is none. */
export function activeTrace(): Uint8Array | null {
  const span = contextManager()?.active().getValue(SPAN) as { spanContext(): SpanContext } | undefined;
  if (span === undefined) return null;
  const { traceId, spanId, traceFlags: flags, traceState } = span.spanContext();
  return encodeTrace(formatTraceparent({ traceId, spanId, flags }), traceState?.serialize());
}

/** Runs a function with a span of elsewhere as the active one, where OpenTelemetry is registered. */
export function withActiveTrace<Result>(trace: TraceContext, run: () => Result): Result {
  const manager = contextManager();
  const parent = parseTraceparent(trace.traceparent);
  if (manager === undefined || parent === null) return run();
  const { traceId, spanId, flags } = parent;
  const named = { traceId, spanId, traceFlags: flags, isRemote: true };
  const { tracestate } = trace;
  const span = remoteSpan(
    tracestate === undefined ? named : { ...named, traceState: new TraceState(tracestate) },
  );
  return manager.with(manager.active().setValue(SPAN, span), run);
}

/** Makes a span that ran elsewhere: it names the parent of others and records nothing. */
function remoteSpan(context: SpanContext): object {
  const span = { spanContext: () => context, isRecording: () => false, end() {}, recordException() {} };
  for (const name of CHAINED) Reflect.set(span, name, () => span);
  return span;
}

/** Methods of a span that return it. */
const CHAINED = [
  "setAttribute",
  "setAttributes",
  "addEvent",
  "addLink",
  "addLinks",
  "setStatus",
  "updateName",
] as const;

/** A `tracestate`, as tracing libraries read and change it. */
class TraceState {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  serialize(): string {
    return this.#text;
  }

  get(key: string): string | undefined {
    const member = this.#members().find(([name]) => name === key);
    return member?.[1];
  }

  /** Puts a member in front of the others, as W3C asks for changed ones. */
  set(key: string, value: string): TraceState {
    return new TraceState([`${key}=${value}`, ...this.#without(key)].join(","));
  }

  unset(key: string): TraceState {
    return new TraceState(this.#without(key).join(","));
  }

  #without(key: string): string[] {
    return this.#members()
      .filter(([name]) => name !== key)
      .map(([name, value]) => `${name}=${value}`);
  }

  #members(): [name: string, value: string][] {
    return this.#text
      .split(",")
      .filter((member) => member !== "")
      .map((member) => {
        const at = member.indexOf("=");
        return [member.slice(0, at), member.slice(at + 1)];
      });
  }
}
