import type { TraceParent } from "@sluice/protocol";

/** Kinds of spans, by their numbers in OTLP. */
export const SPAN_KINDS = { client: 3, producer: 4, consumer: 5 } as const;

export type Attributes = Readonly<Record<string, string | number>>;

/** A span that has ended. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** Absent at the beginning of a trace. */
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: keyof typeof SPAN_KINDS;
  /** In ms since 1970. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  readonly links: readonly TraceParent[];
  /** Why it has failed. Absent if it has not. */
  readonly error?: string;
}

/** Makes the body of a request that exports spans, in the JSON form of OTLP. */
export function otlpRequest(spans: readonly Span[]): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: keyValues({ "service.name": "sluice" }) },
        scopeSpans: [{ scope: { name: "sluice" }, spans: spans.map(spanOf) }],
      },
    ],
  });
}

function spanOf({ kind, startMs, endMs, attributes, links, error, ...named }: Span) {
  return {
    ...named,
    kind: SPAN_KINDS[kind],
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(endMs),
    attributes: keyValues(attributes),
    links,
    ...(error === undefined ? {} : { status: { code: 2, message: error } }),
  };
}

/** 64-bit numbers are texts in OTLP's JSON. */
function nanoseconds(ms: number): string {
  return `${Math.round(ms)}000000`;
}

function keyValues(attributes: Attributes) {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === "number" ? { intValue: String(value) } : { stringValue: value },
  }));
}
