import { variableText } from "../variable-text.ts";

/** Settings of a broker that exports spans. */
export interface ExportSettings {
  /** URL that spans are posted to. */
  readonly url: string;
  /** Headers of each request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Part of the messages without a trace context that begin a trace, 0 to 1. */
  readonly ratio: number;
}

/** Where a trace id goes in `SLUICE_TRACE_URL`. */
const TRACE_ID_PLACE = "{traceId}";
/** Path of OTLP over HTTP for spans, below the collector's URL. */
const TRACES_PATH = "/v1/traces";

/**
 * Reads `SLUICE_OTLP_ENDPOINT`, `SLUICE_OTLP_HEADERS` and `SLUICE_TRACE_RATIO`; `null` without an endpoint.
 *
 * @throws RangeError for values of another form.
 */
export function exportSettingsIn(env: Readonly<Record<string, unknown>>): ExportSettings | null {
  const url = parseOtlpEndpoint(variableText(env.SLUICE_OTLP_ENDPOINT));
  if (url === null) return null;
  const headers = parseOtlpHeaders(variableText(env.SLUICE_OTLP_HEADERS));
  return { url, headers, ratio: parseTraceRatio(variableText(env.SLUICE_TRACE_RATIO)) };
}

/**
 * Reads `SLUICE_OTLP_ENDPOINT`, the URL of a collector, to which `/v1/traces` is added unless it ends so; `null` where
 * it is not set.
 *
 * @throws RangeError for what is no absolute `http:` or `https:` URL, and for one with a query.
 */
export function parseOtlpEndpoint(text: string): string | null {
  if (text === "") return null;
  const url = webUrl(text);
  if (url === null || /[?#]/.test(text) || url.username !== "" || url.password !== "") {
    throw new RangeError(
      "SLUICE_OTLP_ENDPOINT must be the URL of a collector without a user, a query and a fragment, such as " +
        "http://localhost:4318",
    );
  }
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path.endsWith(TRACES_PATH) ? path : `${path}${TRACES_PATH}`}`;
}

/**
 * Reads `SLUICE_OTLP_HEADERS`: `name=value` separated by commas, values percent-encoded, as
 * `OTEL_EXPORTER_OTLP_HEADERS`.
 *
 * @throws RangeError for a text of another form. It names no value.
 */
export function parseOtlpHeaders(text: string): Record<string, string> {
  const entries = text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
    .map((entry): [name: string, value: string] => {
      const at = entry.indexOf("=");
      const name = entry.slice(0, Math.max(0, at)).trim();
      const value = decoded(entry.slice(at + 1).trim());
      if (/^[\w!#$%&'*+.^`|~-]+$/.test(name) && value !== null && /^[\x20-\x7e]+$/.test(value))
        return [name.toLowerCase(), value];
      throw new RangeError(
        "SLUICE_OTLP_HEADERS must be headers as NAME=VALUE, separated by commas, with percent-encoded values",
      );
    });
  return Object.fromEntries(entries);
}

/**
 * Reads `SLUICE_TRACE_RATIO`. Default 1.
 *
 * @throws RangeError for what is no number from 0 to 1.
 */
export function parseTraceRatio(text: string): number {
  if (text === "") return 1;
  const ratio = /^(\d+(\.\d*)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (ratio >= 0 && ratio <= 1) return ratio;
  throw new RangeError("SLUICE_TRACE_RATIO must be a number from 0 to 1, such as 0.1");
}

/**
 * Reads `SLUICE_TRACE_URL`, the URL of a page that shows a trace; `null` where it is not set.
 *
 * @throws RangeError for what is no `http:` or `https:` URL with `{traceId}` in it.
 */
export function parseTraceUrl(text: string): string | null {
  if (text === "") return null;
  if (text.includes(TRACE_ID_PLACE) && webUrl(text) !== null) return text;
  throw new RangeError(
    `SLUICE_TRACE_URL must be a URL with ${TRACE_ID_PLACE} in it, such as ` +
      `http://localhost:16686/trace/${TRACE_ID_PLACE}`,
  );
}

/** Makes the URL of a trace. */
export function traceUrl(template: string, traceId: string): string {
  return template.replaceAll(TRACE_ID_PLACE, traceId);
}

function webUrl(text: string): URL | null {
  const url = URL.parse(text);
  // The URL parser takes "https:host" for "https://host".
  return url !== null && /^https?:\/\//i.test(text) ? url : null;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
