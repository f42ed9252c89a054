import { decodeTrace } from "@sluice/protocol";
import { describe, expect, it } from "vitest";
import { type NamedTraces, traceOfMessage, xrayOf } from "./trace-context.ts";

const ROOT = "Root=1-5759e988-bd862e3fe1be46a994272793";
const TRACE_ID = "5759e988bd862e3fe1be46a994272793";
const NONE: NamedTraces = { attributes: undefined, ofRequest: null, headerOfRequest: null };

const text = (StringValue: string) => ({ DataType: "String", StringValue });
const chosen = (named: Partial<NamedTraces>) =>
  decodeTrace(traceOfMessage({ ...NONE, ...named }) ?? undefined);
const ofHeader = (header: string) => chosen({ traceHeader: header })?.traceparent ?? null;

describe("an X-Ray header", () => {
  it.each([
    [`${ROOT};Parent=53995c3f42cd8ad8;Sampled=1`, `00-${TRACE_ID}-53995c3f42cd8ad8-01`],
    [`Sampled=0; Parent=53995c3f42cd8ad8; ${ROOT}`, `00-${TRACE_ID}-53995c3f42cd8ad8-00`],
    [`${ROOT};Parent=53995c3f42cd8ad8;Sampled=?;Lineage=a:1`, `00-${TRACE_ID}-53995c3f42cd8ad8-00`],
    [ROOT, `00-${TRACE_ID}-${TRACE_ID.slice(-16)}-00`],
  ])("%s is a trace context", (header, traceparent) => {
    expect(ofHeader(header)).toBe(traceparent);
  });

  it.each([
    "",
    "Root=1",
    "Root=2-5759e988-bd862e3fe1be46a994272793",
    "Parent=53995c3f42cd8ad8",
    `${ROOT};Parent=x`,
  ])("%j is none", (header) => {
    expect(ofHeader(header)).toBeNull();
  });

  it("comes back as it was", () => {
    const header = `${ROOT};Parent=53995c3f42cd8ad8;Sampled=1`;
    expect(xrayOf({ traceId: TRACE_ID, spanId: "53995c3f42cd8ad8", flags: 3 })).toBe(header);
  });
});

it("the trace context of a message is its own before that of its request", () => {
  const parent = (digit: string) => `00-${digit.repeat(32)}-${digit.repeat(16)}-01`;
  const root = (digit: string) => `Root=1-${digit.repeat(8)}-${digit.repeat(24)};Parent=${digit.repeat(16)}`;
  const ofRequest = traceOfMessage({ ...NONE, attributes: { traceparent: text(parent("3")) } });
  const all: NamedTraces = {
    attributes: { traceparent: text(parent("1")), tracestate: text("a=1") },
    traceHeader: root("2"),
    ofRequest,
    headerOfRequest: root("4"),
  };
  const digit = (named: NamedTraces) => chosen(named)?.traceparent[3];
  expect(chosen(all)).toEqual({ traceparent: parent("1"), tracestate: "a=1" });
  expect(digit({ ...all, attributes: { traceparent: text("none") } })).toBe("2");
  expect(digit({ ...all, attributes: {}, traceHeader: undefined })).toBe("3");
  expect(digit({ ...all, attributes: {}, traceHeader: "none", ofRequest: null })).toBe("4");
  expect(chosen({})).toBeNull();
});
