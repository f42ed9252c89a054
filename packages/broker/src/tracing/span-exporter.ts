import type { ExportSettings } from "@sluice/protocol";
import { otlpRequest, type Span } from "./otlp.ts";

/** Time that a span waits for others that go with it, in ms. */
export const EXPORT_AFTER_MS = 1_000;
/** Most spans that wait. With one more the oldest is lost. */
export const SPANS_MAX = 2_048;
/** Most spans of one request. */
export const REQUEST_SPANS_MAX = 512;
/** Longest wait for the collector's answer, in ms. */
export const EXPORT_MS_MAX = 10_000;
/** Longest time between two requests to a collector that does not take any, in ms. */
export const EXPORT_AGAIN_MS_MAX = 60_000;

/** Statuses after which the same spans are sent again, as OTLP has it. Others refuse them for good. */
const AGAIN_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export interface ExporterPorts {
  readonly settings: Pick<ExportSettings, "url" | "headers">;
  /** Posts to the collector and resolves with the status of its answer. Rejects where there is none. */
  post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<number>;
  /** Calls back after a time in ms, if the queue's object lasts so long. */
  after(callback: () => void, ms: number): void;
  warn(text: string): void;
}

/**
 * Exports spans to a collector, some at a time. A queue never waits for it: where the collector is away the newest
 * spans are kept, and those that were lost are counted in the log.
 */
export class SpanExporter {
  readonly #ports: ExporterPorts;
  #waiting: Span[] = [];
  #isTimed = false;
  #isPosting = false;
  /** Requests in a row that the collector did not take. */
  #failures = 0;
  /** Spans that were lost and are not logged yet. */
  #lost = 0;

  constructor(ports: ExporterPorts) {
    this.#ports = ports;
  }

  add(spans: readonly Span[]): void {
    if (spans.length === 0) return;
    this.#waiting.push(...spans);
    const excess = this.#waiting.length - SPANS_MAX;
    if (excess > 0) {
      this.#waiting.splice(0, excess);
      this.#lost += excess;
    }
    this.#exportLater();
  }

  #exportLater(): void {
    if (this.#isTimed || this.#isPosting || this.#waiting.length === 0) return;
    this.#isTimed = true;
    const waitMs = Math.min(EXPORT_AGAIN_MS_MAX, EXPORT_AFTER_MS * 2 ** this.#failures);
    this.#ports.after(() => {
      this.#isTimed = false;
      void this.#export();
    }, waitMs);
  }

  async #export(): Promise<void> {
    const spans = this.#waiting.splice(0, REQUEST_SPANS_MAX);
    this.#isPosting = true;
    const failure = await this.#post(spans);
    this.#isPosting = false;
    if (failure === null) {
      this.#reportLost(this.#failures > 0 ? "it answers again" : "more came than it took");
      this.#failures = 0;
    } else {
      if (failure.isFinal) this.#lost += spans.length;
      else this.#keep(spans);
      this.#failures += 1;
      if (this.#failures === 1 || this.#lost > 0) this.#reportFailure(failure.reason);
    }
    this.#exportLater();
  }

  /** Puts spans back in front of those that came meanwhile, as many as there is room for. */
  #keep(spans: readonly Span[]): void {
    const kept = spans.slice(Math.max(0, spans.length + this.#waiting.length - SPANS_MAX));
    this.#lost += spans.length - kept.length;
    this.#waiting = [...kept, ...this.#waiting];
  }

  async #post(
    spans: readonly Span[],
  ): Promise<{ readonly reason: string; readonly isFinal: boolean } | null> {
    const { settings, post } = this.#ports;
    try {
      const status = await post(settings.url, settings.headers, otlpRequest(spans));
      if (status >= 200 && status <= 299) return null;
      return { reason: `it answered ${status}`, isFinal: !AGAIN_STATUSES.has(status) };
    } catch (error) {
      return { reason: String(error), isFinal: false };
    }
  }

  #reportFailure(reason: string): void {
    const lost = this.#lost > 0 ? `${this.#lost} span(s) are lost` : `the last ${SPANS_MAX} spans wait`;
    this.#lost = 0;
    this.#ports.warn(`The collector ${this.#ports.settings.url} takes no spans (${reason}): ${lost}`);
  }

  #reportLost(why: string): void {
    if (this.#lost === 0) return;
    this.#ports.warn(`${this.#lost} span(s) for the collector ${this.#ports.settings.url} were lost: ${why}`);
    this.#lost = 0;
  }
}

/** Posts to a collector by `fetch`. */
export async function postSpans(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<number> {
  const response = await fetch(url, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body,
    redirect: "manual",
    signal: AbortSignal.timeout(EXPORT_MS_MAX),
  });
  await response.body?.cancel();
  return response.status;
}
