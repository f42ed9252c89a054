import { hexOf } from "../hex.ts";

/** Trace context of W3C, as the headers `traceparent` and `tracestate` carry it. */
export interface TraceContext {
  /** `00-TRACE_ID-SPAN_ID-FLAGS`, in lower case hexadecimal digits. */
  readonly traceparent: string;
  /** Data of tracing systems, at most `TRACESTATE_CHARACTERS_MAX` characters. Default: none. */
  readonly tracestate?: string;
}

/** The parts of a `traceparent`. */
export interface TraceParent {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Bit 0: the trace is sampled. Bit 1: its id is random. */
  readonly flags: number;
}

/** Longest `tracestate` that is kept, in characters: W3C asks all software that passes it on for as many. */
export const TRACESTATE_CHARACTERS_MAX = 512;
/** Most members of a `tracestate`. One that has more is none. */
export const TRACESTATE_MEMBERS_MAX = 32;
/** Members of a `tracestate` that are longer go first where it is too long. */
const LONG_MEMBER_CHARACTERS = 128;

export const FLAG_SAMPLED = 1;
const FLAG_RANDOM = 2;

/*
 * A contract: stored messages hold these bytes. Trace id (16 bytes), span id (8 bytes), flags (1 byte), and the
 * `tracestate` in ASCII.
 */
const SPAN_ID_AT = 16;
const FLAGS_AT = 24;
const TRACESTATE_AT = 25;
/** Most bytes of a stored trace context. */
export const TRACE_BYTES_MAX = TRACESTATE_AT + TRACESTATE_CHARACTERS_MAX;

const PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const MEMBER =
  /^[a-z0-9][a-z0-9_*/@-]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Reads a `traceparent` of any version that is compatible with version 00; `null` for another text. */
export function parseTraceparent(text: string): TraceParent | null {
  const [, version, traceId = "", spanId = "", flags = "", more] = PARENT.exec(text) ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & (FLAG_SAMPLED | FLAG_RANDOM) };
}

/** Makes the `traceparent` of version 00. */
export function formatTraceparent({ traceId, spanId, flags }: TraceParent): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, "0")}`;
}

/**
 * Encodes a trace context as a record stores it; `null` for a `traceparent` that is none. A `tracestate` that cannot be
 * read is left out, and one that is too long loses members, both as W3C says.
 */
export function encodeTrace(traceparent: string, tracestate?: string | null): Uint8Array | null {
  const parent = parseTraceparent(traceparent);
  if (parent === null) return null;
  const state = encoder.encode(boundedTracestate(tracestate ?? ""));
  const bytes = new Uint8Array(TRACESTATE_AT + state.byteLength);
  writeHex(bytes, 0, parent.traceId);
  writeHex(bytes, SPAN_ID_AT, parent.spanId);
  bytes[FLAGS_AT] = parent.flags;
  bytes.set(state, TRACESTATE_AT);
  return bytes;
}

/** Reads the ids of a stored trace context; `null` for bytes that are none. */
export function traceParentIn(bytes: Uint8Array | undefined): TraceParent | null {
  if (bytes === undefined || bytes.byteLength < TRACESTATE_AT) return null;
  const traceId = hexOf(bytes.subarray(0, SPAN_ID_AT));
  const spanId = hexOf(bytes.subarray(SPAN_ID_AT, FLAGS_AT));
  return { traceId, spanId, flags: bytes[FLAGS_AT] ?? 0 };
}

/** Reads a stored trace context; `null` for bytes that are none. */
export function decodeTrace(bytes: Uint8Array | undefined): TraceContext | null {
  const parent = traceParentIn(bytes);
  if (bytes === undefined || parent === null) return null;
  const traceparent = formatTraceparent(parent);
  const tracestate = decoder.decode(bytes.subarray(TRACESTATE_AT));
  return tracestate === "" ? { traceparent } : { traceparent, tracestate };
}

/** Writes another span id into a stored trace context. */
export function changeSpan(bytes: Uint8Array, spanId: string): void {
  writeHex(bytes, SPAN_ID_AT, spanId);
}

/** The members of a `tracestate` that fit; none of one that W3C's grammar does not allow. */
function boundedTracestate(text: string): string {
  const all = text
    .split(",")
    .map((member) => member.trim())
    .filter((member) => member !== "");
  if (all.length > TRACESTATE_MEMBERS_MAX || !all.every((member) => MEMBER.test(member))) return "";
  if (charactersOf(all) <= TRACESTATE_CHARACTERS_MAX) return all.join(",");
  const members = all.filter(({ length }) => length <= LONG_MEMBER_CHARACTERS);
  while (charactersOf(members) > TRACESTATE_CHARACTERS_MAX) members.pop();
  return members.join(",");
}

function charactersOf(members: readonly string[]): number {
  return members.join(",").length;
}

function writeHex(bytes: Uint8Array, at: number, hex: string): void {
  for (let i = 0; i < hex.length; i += 2) bytes[at + i / 2] = Number.parseInt(hex.slice(i, i + 2), 16);
}
