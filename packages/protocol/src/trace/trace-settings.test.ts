import { describe, expect, it } from "vitest";
import {
  exportSettingsIn,
  parseOtlpEndpoint,
  parseOtlpHeaders,
  parseTraceRatio,
  parseTraceUrl,
  traceUrl,
} from "./trace-settings.ts";

describe("the collector", () => {
  it.each([
    ["http://localhost:4318", "http://localhost:4318/v1/traces"],
    ["https://otlp.example/", "https://otlp.example/v1/traces"],
    ["https://otlp.example/otlp", "https://otlp.example/otlp/v1/traces"],
    ["https://otlp.example/otlp/v1/traces", "https://otlp.example/otlp/v1/traces"],
  ])("%s is at %s", (text, url) => {
    expect(parseOtlpEndpoint(text)).toBe(url);
  });

  it.each(["localhost:4318", "https:otlp.example", "ftp://a", "http://a/?b", "http://a/#b", "http://u:p@a"])(
    "is not at %s",
    (text) => {
      expect(() => parseOtlpEndpoint(text)).toThrow("SLUICE_OTLP_ENDPOINT must be the URL of a collector");
    },
  );

  it("has headers as OpenTelemetry's variable has them", () => {
    expect(parseOtlpHeaders("")).toEqual({});
    expect(parseOtlpHeaders("Authorization=Bearer%20a=, x-team = shop ,")).toEqual({
      authorization: "Bearer a=",
      "x-team": "shop",
    });
  });

  it.each(["a", "=a", "a b=c", "a=%", "a=", "a=%0a"])("has no headers such as %j", (text) => {
    expect(() => parseOtlpHeaders(text)).toThrow("SLUICE_OTLP_HEADERS must be headers as NAME=VALUE");
  });

  it.each([
    ["", 1],
    ["0", 0],
    ["1", 1],
    ["0.25", 0.25],
    [".5", 0.5],
  ])("with the ratio %j gets %d of the traces", (text, ratio) => {
    expect(parseTraceRatio(text)).toBe(ratio);
  });

  it.each(["-0.1", "1.1", "x", "1e-1", "10%", "NaN", "."])("has no ratio %j", (text) => {
    expect(() => parseTraceRatio(text)).toThrow("SLUICE_TRACE_RATIO must be a number from 0 to 1");
  });

  it("is all that turns the export on", () => {
    expect(exportSettingsIn({ SLUICE_OTLP_HEADERS: "a=b", SLUICE_TRACE_RATIO: "0.5" })).toBeNull();
    expect(exportSettingsIn({ SLUICE_OTLP_ENDPOINT: " http://a ", SLUICE_OTLP_HEADERS: "a=b" })).toEqual({
      url: "http://a/v1/traces",
      headers: { a: "b" },
      ratio: 1,
    });
  });
});

describe("the page of a trace", () => {
  it("is at the URL with its id", () => {
    const template = parseTraceUrl("http://localhost:16686/trace/{traceId}") ?? "";
    expect(traceUrl(template, "ab")).toBe("http://localhost:16686/trace/ab");
    expect(parseTraceUrl("")).toBeNull();
  });

  it.each(["http://localhost/trace", "javascript:{traceId}", "{traceId}"])("is not at %s", (text) => {
    expect(() => parseTraceUrl(text)).toThrow("SLUICE_TRACE_URL must be a URL with {traceId} in it");
  });
});
