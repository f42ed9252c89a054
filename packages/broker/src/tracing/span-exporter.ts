import type { ExportSettings } from "@sluice/protocol";
import { pluralIs } from "@sluice/protocol/words";
import { otlpRequest, type Span } from "./otlp.ts";
import { isolateRoom, type RoomShare, type SpanRoom } from "./span-room.ts";

/** Time that a span waits for others that go with it, in ms. */
export const EXPORT_AFTER_MS = 1_000;
/** Most spans of a queue that wait. With one more the oldest is lost. */
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
  /** Room that the spans take. Default: that of this isolate. */
  readonly room?: SpanRoom;
}

/**
 * Exports spans to a collector, some at a time. A queue never waits for it: where the collector is away the newest
 * spans are kept, and those that were lost are counted in the log. Queues of an isolate share the room for them, and
 * say once that the collector is away.
 */
export class SpanExporter {
  readonly #ports: ExporterPorts;
  readonly #room: SpanRoom;
  readonly #share: RoomShare;
  #waiting: Span[] = [];
  #isTimed = false;
  /** Spans of the request that is under way; 0 for none. */
  #posting = 0;
  /** Requests in a row that the collector did not take. */
  #failures = 0;

  constructor(ports: ExporterPorts) {
    this.#ports = ports;
    this.#room = ports.room ?? isolateRoom;
    this.#share = this.#room.shareFor(this);
  }

  add(spans: readonly Span[]): void {
    if (spans.length === 0) return;
    this.#waiting.push(...spans);
    this.#fit();
    this.#exportLater();
  }

  /** Loses the oldest spans that there is no room for. */
  #fit(): void {
    const max = Math.min(SPANS_MAX, this.#room.maxFor(this.#share) - this.#posting);
    const excess = this.#waiting.length - Math.max(0, max);
    if (excess > 0) {
      this.#waiting.splice(0, excess);
      this.#room.lost += excess;
    }
    this.#room.hold(this.#share, this.#waiting.length + this.#posting);
  }

  #exportLater(): void {
    if (this.#isTimed || this.#posting > 0 || this.#waiting.length === 0) return;
    this.#isTimed = true;
    const waitMs = Math.min(EXPORT_AGAIN_MS_MAX, EXPORT_AFTER_MS * 2 ** this.#failures);
    this.#ports.after(() => {
      this.#isTimed = false;
      void this.#export();
    }, waitMs);
  }

  async #export(): Promise<void> {
    const spans = this.#waiting.splice(0, REQUEST_SPANS_MAX);
    this.#posting = spans.length;
    const failure = await this.#post(spans);
    this.#posting = 0;
    if (failure === null) {
      this.#reportLost();
      this.#failures = 0;
    } else {
      if (failure.isFinal) this.#room.lost += spans.length;
      // In front of those that came meanwhile.
      else this.#waiting = [...spans, ...this.#waiting];
      this.#failures += 1;
    }
    this.#fit();
    if (failure !== null) this.#reportFailure(failure.reason);
    this.#exportLater();
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

  /**
   * Logs once that the collector is away, and once that spans are lost by that. Their number is logged at its return.
   */
  #reportFailure(reason: string): void {
    const room = this.#room;
    const isLoss = room.lost > 0 && !room.isLossKnown;
    if (room.isAway && !isLoss) return;
    room.isAway = true;
    room.isLossKnown ||= isLoss;
    const lost = isLoss
      ? `${pluralIs(room.lost, "span")} lost`
      : `the last ${SPANS_MAX} spans of each queue wait`;
    if (isLoss) room.lost = 0;
    this.#ports.warn(`The collector ${this.#ports.settings.url} takes no spans (${reason}): ${lost}`);
  }

  #reportLost(): void {
    const { isAway, lost } = this.#room;
    this.#room.isAway = false;
    this.#room.isLossKnown = false;
    if (lost === 0) return;
    const why = isAway ? "it answers again" : "more came than it took";
    this.#ports.warn(`${pluralIs(lost, "span")} lost for the collector ${this.#ports.settings.url}: ${why}`);
    this.#room.lost = 0;
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
