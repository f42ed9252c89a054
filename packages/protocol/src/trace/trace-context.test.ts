import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  changeSpan,
  decodeTrace,
  encodeTrace,
  parseTraceparent,
  TRACE_BYTES_MAX,
  TRACESTATE_CHARACTERS_MAX,
  TRACESTATE_MEMBERS_MAX,
  traceParentIn,
} from "./trace-context.ts";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const SPAN_ID = "b7ad6b7169203331";
const PARENT = `00-${TRACE_ID}-${SPAN_ID}-01`;

/** The trace context that a header becomes after it was stored. */
const stored = (traceparent: string, tracestate?: string) =>
  decodeTrace(encodeTrace(traceparent, tracestate) ?? undefined);

const hex = (digits: number) =>
  fc
    .array(fc.constantFrom(..."0123456789abcdef"), { minLength: digits, maxLength: digits })
    .map((all) => all.join(""));

describe("a trace context", () => {
  it("is stored in 25 bytes and its tracestate", () => {
    const bytes = encodeTrace(PARENT, "rojo=1,congo=t61rcWkgMzE");
    expect([...(bytes ?? [])].map((byte) => byte.toString(16).padStart(2, "0")).join("")).toBe(
      `${TRACE_ID}${SPAN_ID}01${Buffer.from("rojo=1,congo=t61rcWkgMzE").toString("hex")}`,
    );
  });

  it("gives back every traceparent of version 00", () => {
    fc.assert(
      fc.property(hex(32), hex(16), fc.integer({ min: 0, max: 3 }), (traceId, spanId, flags) => {
        fc.pre(!/^0+$/.test(traceId) && !/^0+$/.test(spanId));
        const traceparent = `00-${traceId}-${spanId}-0${flags}`;
        expect(stored(traceparent)).toEqual({ traceparent });
        expect(traceParentIn(encodeTrace(traceparent) ?? undefined)).toEqual({ traceId, spanId, flags });
      }),
    );
  });

  it.each([
    ["an empty text", ""],
    ["ids in upper case", PARENT.toUpperCase()],
    ["a trace id of zeros", `00-${"0".repeat(32)}-${SPAN_ID}-01`],
    ["a span id of zeros", `00-${TRACE_ID}-${"0".repeat(16)}-01`],
    ["the version ff", `ff-${TRACE_ID}-${SPAN_ID}-01`],
    ["version 00 with more", `${PARENT}-more`],
    ["a later version with more but no hyphen", `01-${TRACE_ID}-${SPAN_ID}-01more`],
    ["a digit too few", PARENT.slice(0, -1)],
    ["a line break at its end", `${PARENT}\n`],
  ])("is none with %s", (_, text) => {
    expect(parseTraceparent(text)).toBeNull();
    expect(encodeTrace(text)).toBeNull();
  });

  it("of a later version is passed on as version 00, without flags that are not known", () => {
    expect(stored(`01-${TRACE_ID}-${SPAN_ID}-ff-what-comes`)).toEqual({
      traceparent: `00-${TRACE_ID}-${SPAN_ID}-03`,
    });
  });

  it.each(["no member", "UPPER=1", "a=b=c", "a=ümlaut", "=1", "a="])("drops the tracestate %j", (state) => {
    expect(stored(PARENT, state)).toEqual({ traceparent: PARENT });
  });

  it("drops blanks around members, and empty ones", () => {
    expect(stored(PARENT, " a=1 ,, b=2\t,")).toEqual({ traceparent: PARENT, tracestate: "a=1,b=2" });
  });

  it.each([TRACESTATE_MEMBERS_MAX - 1, TRACESTATE_MEMBERS_MAX, TRACESTATE_MEMBERS_MAX + 1])(
    "with a tracestate of %i members keeps all or none",
    (count) => {
      const state = Array.from({ length: count }, (_, i) => `k${i}=1`).join(",");
      expect(stored(PARENT, state)?.tracestate).toBe(count > TRACESTATE_MEMBERS_MAX ? undefined : state);
    },
  );

  it.each([-1, 0, 1])("with a tracestate of the longest length %i keeps what fits", (more) => {
    const last = "z=1";
    const members = Array.from({ length: 4 }, (_, i) => `k${i}=${"v".repeat(97)}`);
    const filler = TRACESTATE_CHARACTERS_MAX + more - members.join(",").length - last.length - 2;
    const whole = [...members, `f=${"v".repeat(filler - 2)}`, last];
    const text = whole.join(",");
    expect(text).toHaveLength(TRACESTATE_CHARACTERS_MAX + more);
    const kept = more > 0 ? whole.slice(0, -1).join(",") : text;
    expect(stored(PARENT, text)?.tracestate).toBe(kept);
    expect(encodeTrace(PARENT, text)?.byteLength).toBeLessThanOrEqual(TRACE_BYTES_MAX);
  });

  it("loses long members of a tracestate first", () => {
    const short = Array.from({ length: 5 }, (_, i) => `k${i}=${"v".repeat(80)}`);
    const text = [`long=${"v".repeat(200)}`, ...short].join(",");
    expect(stored(PARENT, text)?.tracestate).toBe(short.join(","));
  });

  it("takes another span", () => {
    const bytes = encodeTrace(PARENT, "a=1") as Uint8Array;
    changeSpan(bytes, "00f067aa0ba902b7");
    expect(decodeTrace(bytes)).toEqual({
      traceparent: `00-${TRACE_ID}-00f067aa0ba902b7-01`,
      tracestate: "a=1",
    });
  });

  it("is none in bytes that are too few", () => {
    expect(decodeTrace(undefined)).toBeNull();
    expect(decodeTrace(new Uint8Array(24))).toBeNull();
  });
});
