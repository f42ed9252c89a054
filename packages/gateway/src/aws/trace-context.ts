import type { AttributeValue } from "@sluice/aws";
import { encodeTrace, FLAG_SAMPLED, formatTraceparent, type TraceParent } from "@sluice/protocol";

/** Digits of an X-Ray trace id that are the time of its beginning. */
const EPOCH_DIGITS = 8;

/** Where the trace context of a message can be named. */
export interface NamedTraces {
  /** Attributes of the message. `traceparent` and `tracestate` are what instrumented SDKs add. */
  readonly attributes: Readonly<Record<string, AttributeValue>> | undefined;
  /** AWS X-Ray's header of the message alone. Default: it has none. */
  readonly traceHeader?: string | undefined;
  /** Trace context of the request, by its `traceparent`. */
  readonly ofRequest: Uint8Array | null;
  /** `X-Amzn-Trace-Id` of the request. */
  readonly headerOfRequest: string | null;
}

/** Chooses the trace context of a message: that of the message itself goes first. */
export function traceOfMessage(named: NamedTraces): Uint8Array | null {
  const { attributes, traceHeader, ofRequest, headerOfRequest } = named;
  return fromAttributes(attributes) ?? fromXray(traceHeader) ?? ofRequest ?? fromXray(headerOfRequest);
}

function fromAttributes(attributes: NamedTraces["attributes"]): Uint8Array | null {
  const traceparent = attributes?.traceparent?.StringValue;
  return traceparent === undefined ? null : encodeTrace(traceparent, attributes?.tracestate?.StringValue);
}

/**
 * Encodes the trace context of an X-Ray header: `Root=1-8 digits-24 digits` is the trace id, `Parent` the span, and
 * `Sampled=1` the flag. A header without a parent, as load balancers make it, gets a span id of its trace id's digits.
 */
function fromXray(header: string | null | undefined): Uint8Array | null {
  if (header === null || header === undefined) return null;
  const fields = new Map(header.split(";").map(fieldOf));
  const [, epoch, rest] = /^1-([0-9a-f]{8})-([0-9a-f]{24})$/.exec(fields.get("Root") ?? "") ?? [];
  if (epoch === undefined || rest === undefined) return null;
  const spanId = fields.get("Parent") ?? rest.slice(-16);
  const flags = fields.get("Sampled") === "1" ? FLAG_SAMPLED : 0;
  return encodeTrace(formatTraceparent({ traceId: epoch + rest, spanId, flags }));
}

function fieldOf(field: string): [name: string, value: string] {
  const [name = "", value = ""] = field.trim().split("=", 2);
  return [name, value];
}

/** Makes the X-Ray header of a trace context. */
export function xrayOf({ traceId, spanId, flags }: TraceParent): string {
  const root = `1-${traceId.slice(0, EPOCH_DIGITS)}-${traceId.slice(EPOCH_DIGITS)}`;
  return `Root=${root};Parent=${spanId};Sampled=${flags & FLAG_SAMPLED}`;
}
