import type { HistoryKind, QueueRates, WatchReply, WatchRequest } from "@sluice/protocol";
import { type HealthView, healthOf } from "../backlog-view.ts";
import { AdminError } from "../failure.ts";
import { timeOf } from "../time.ts";
import { type EventView, eventView } from "./history-view.ts";

/** Least time between two frames, in ms. */
export const FRAME_MS = 250;
/** Time between two checks of which queues exist and whether the reader may still see them, in ms. */
export const LOOK_MS = 5_000;
/** Longest silence, in ms. Then a comment is sent, so that both sides notice when the other is gone. */
export const SILENCE_MS = 15_000;
/** Longest that the first frame waits for queues that do not answer, in ms. */
export const SNAPSHOT_MS = 2_000;
/** Time after which a queue whose object has ended is asked again, in ms. */
export const AGAIN_MS = 1_000;

export interface StreamPorts {
  /** Names of the queues that are watched. Throws `AdminError` when the reader may not read on. */
  queues(): Promise<readonly string[]>;
  watch(queue: string, request: WatchRequest): Promise<WatchReply>;
  now(): number;
  /** Calls back after a time. Returns a function that prevents it. */
  after(callback: () => void, ms: number): () => void;
}

/** Figures of a queue, and how much has happened in it since `awake`: rates are differences. */
export interface FiguresView {
  readonly name: string;
  /** The queue's own time. */
  readonly now: string;
  readonly messages: { readonly ready: number; readonly delayed: number; readonly leased: number };
  readonly backlogBytes: number;
  readonly oldestMessageAt: string | null;
  readonly isOn: boolean;
  readonly totals: Readonly<Partial<Record<HistoryKind, number>>>;
  readonly tookMs: readonly number[];
  /** Messages a second in the last five seconds; `null` without a history. */
  readonly rates: QueueRates | null;
  /** How deliveries to the consumer go; `null` where the broker delivers to no consumer. Absent if that is not known. */
  readonly health?: HealthView | null;
}

/** Data of one event of the stream. */
export interface FrameView {
  readonly at: string;
  /** Whether `queues` are all that are watched; else those that have changed. */
  readonly isSnapshot: boolean;
  /** Whether events are missing: the reader was slow, or too much happened. */
  readonly isGap: boolean;
  readonly queues: readonly FiguresView[];
  /** Queues that are gone. */
  readonly gone: readonly string[];
  /** Events that happened, oldest first in each queue. */
  readonly events: readonly EventView[];
}

/** Why a stream has ended: the refusal that a request would get. Sent as the event `end`. */
export interface EndView {
  readonly code: string;
  readonly message: string;
}

/** A queue that is watched. */
interface Watched {
  figures: FiguresView | null;
  after: number | null;
  state: string | null;
  /** Reply that has come and was not sent. */
  reply: WatchReply | null;
  isAsking: boolean;
  /** Earliest time of the next request to it, in ms. */
  askAtMs: number;
}

/**
 * Live events as a body of `text/event-stream`, made as its reader takes it: no queue is asked while the reader is
 * busy, so a slow reader costs no memory, and learns by `isGap` that it has missed events.
 */
export class EventStream {
  readonly #ports: StreamPorts;
  readonly #kinds: readonly HistoryKind[] | undefined;
  readonly #watched = new Map<string, Watched>();
  #gone: string[] = [];
  #isFirst = true;
  /** When the first frame leaves at the latest, in ms. */
  #firstAtMs = Infinity;
  #isEnded = false;
  #lookAtMs = 0;
  #frameAtMs = 0;
  #wake = () => {};

  /** @param kinds events that are sent. Default: all. */
  constructor(ports: StreamPorts, kinds?: readonly HistoryKind[]) {
    this.#ports = ports;
    this.#kinds = kinds;
  }

  /** @param onEnd called when the reader has gone, may not read on, or `end` was called, or a check has failed. */
  body(onEnd: () => void): ReadableStream<Uint8Array> {
    const encoder = new TextEncoder();
    return new ReadableStream(
      {
        pull: async (controller) => {
          try {
            const text = await this.#next();
            if (text !== null) controller.enqueue(encoder.encode(text));
            if (!this.#isEnded) return;
            controller.close();
            onEnd();
          } catch (error) {
            this.end();
            onEnd();
            throw error;
          }
        },
        cancel: () => {
          this.end();
          onEnd();
        },
      },
      { highWaterMark: 0 },
    );
  }

  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  /** Makes the next frame or comment, or the end event for a reader that may not read on; `null` at the end. */
  async #next(): Promise<string | null> {
    await this.#until(this.#frameAtMs, false);
    const silentAtMs = this.#ports.now() + SILENCE_MS;
    if (this.#firstAtMs === Infinity) this.#firstAtMs = this.#ports.now() + SNAPSHOT_MS;
    while (!this.#isEnded) {
      const nowMs = this.#ports.now();
      const refused = nowMs >= this.#lookAtMs ? await this.#look() : null;
      if (refused !== null) {
        this.end();
        return `event: end\ndata: ${JSON.stringify(refused)}\n\n`;
      }
      this.#ask();
      const frame = this.#frame();
      if (frame !== null) {
        this.#frameAtMs = this.#ports.now() + FRAME_MS;
        return `data: ${JSON.stringify(frame)}\n\n`;
      }
      if (nowMs >= silentAtMs) return ": nothing has happened\n\n";
      const firstAtMs = this.#isFirst ? this.#firstAtMs : Infinity;
      await this.#until(Math.min(silentAtMs, this.#lookAtMs, firstAtMs, ...this.#askAtMs()), true);
    }
    return null;
  }

  /** Waits until that moment, or the end, or, with `isForReplies`, the next reply. */
  #until(atMs: number, isForReplies: boolean): Promise<void> {
    const waitMs = atMs - this.#ports.now();
    if (waitMs <= 0 || this.#isEnded) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        forget();
        this.#wake = () => {};
        resolve();
      };
      const forget = this.#ports.after(done, waitMs);
      this.#wake = () => {
        if (isForReplies || this.#isEnded) done();
      };
      if (isForReplies && this.#isReady) done();
    });
  }

  get #isReady(): boolean {
    // The first frame waits for the replies of all queues, up to `SNAPSHOT_MS`.
    const isLate = this.#ports.now() >= this.#firstAtMs;
    if (this.#isFirst) return isLate || [...this.#watched.values()].every(({ isAsking }) => !isAsking);
    return [...this.#watched.values()].some(({ reply }) => reply !== null);
  }

  /** Lists the moments at which queues whose objects have ended are asked again. */
  #askAtMs(): number[] {
    return [...this.#watched.values()].flatMap(({ isAsking, reply, askAtMs }) =>
      isAsking || reply !== null ? [] : [askAtMs],
    );
  }

  /** Finds the queues to watch. Returns why the reader may not read on; `null` if it may. */
  async #look(): Promise<EndView | null> {
    const names = await this.#names();
    if (!(names instanceof Set)) return names;
    this.#lookAtMs = this.#ports.now() + LOOK_MS;
    for (const name of this.#watched.keys()) {
      if (names.has(name)) continue;
      this.#watched.delete(name);
      this.#gone.push(name);
    }
    for (const name of names) {
      if (this.#watched.has(name)) continue;
      const nothing = { figures: null, after: null, state: null, reply: null };
      this.#watched.set(name, { ...nothing, isAsking: false, askAtMs: 0 });
    }
    return null;
  }

  async #names(): Promise<Set<string> | EndView> {
    try {
      return new Set(await this.#ports.queues());
    } catch (error) {
      if (!(error instanceof AdminError)) throw error;
      return { code: error.code, message: error.message };
    }
  }

  #ask(): void {
    for (const [name, watched] of this.#watched) {
      const { after, state, isAsking, reply, askAtMs } = watched;
      if (!isAsking && reply === null && this.#ports.now() >= askAtMs)
        void this.#watch(name, watched, after, state);
    }
  }

  async #watch(name: string, watched: Watched, after: number | null, state: string | null): Promise<void> {
    watched.isAsking = true;
    const kinds = this.#kinds;
    try {
      watched.reply = await this.#ports.watch(name, {
        after,
        state,
        ...(kinds === undefined ? {} : { kinds }),
      });
      watched.after = watched.reply.last;
      watched.state = watched.reply.state;
    } catch {
      // The object has ended. The next request goes on after the same event, and gets the state at once: it may differ.
      watched.state = null;
      watched.askAtMs = this.#ports.now() + AGAIN_MS;
    }
    watched.isAsking = false;
    if (this.#isReady || watched.reply === null) this.#wake();
  }

  /** Makes a frame of the replies that have come; `null` while there is nothing to send. */
  #frame(): FrameView | null {
    const replies = [...this.#watched].filter(([, { reply }]) => reply !== null);
    if (this.#isFirst ? !this.#isReady : replies.length === 0 && this.#gone.length === 0) return null;
    const events: EventView[] = [];
    const changed: FiguresView[] = [];
    let isGap = false;
    for (const [name, watched] of replies) {
      const { reply } = watched;
      if (reply === null) continue;
      watched.reply = null;
      watched.figures = figuresView(name, reply);
      changed.push(watched.figures);
      events.push(...reply.events.map(eventView));
      isGap ||= reply.isGap;
    }
    const isSnapshot = this.#isFirst || isGap;
    const known = [...this.#watched.values()].flatMap(({ figures }) => (figures === null ? [] : [figures]));
    const frame = { isSnapshot, isGap, queues: isSnapshot ? known : changed, gone: this.#gone, events };
    this.#isFirst = false;
    this.#gone = [];
    return { at: timeOf(this.#ports.now()), ...frame };
  }
}

function figuresView(name: string, { figures }: WatchReply): FiguresView {
  const {
    nowMs,
    ready,
    delayed,
    leased,
    backlogBytes,
    oldestMessageTimestampMs,
    isOn,
    totals,
    tookMs,
    rates,
    consumer,
  } = figures;
  return {
    name,
    now: timeOf(nowMs),
    messages: { ready, delayed, leased },
    backlogBytes,
    oldestMessageAt: oldestMessageTimestampMs === 0 ? null : timeOf(oldestMessageTimestampMs),
    isOn,
    totals,
    tookMs,
    rates: rates ?? null,
    ...(consumer === undefined ? {} : { health: consumer === null ? null : healthOf(consumer) }),
  };
}
