import { type EndView, type FrameView, Refused, request, TOKEN_GIVEN, TokenNeeded } from "./call.ts";
import { serverSentEvents } from "./server-sent-events.ts";

/** Period of the page's questions where there is no stream, in ms. */
const ASK_PERIOD_MS = 1_000;
/** First wait before a stream that has ended is opened again, in ms. It is doubled each time. */
const REOPEN_MS = 500;
/** Longest such wait, in ms. A broker whose streams are all taken is asked for one as often. */
const REOPEN_MS_MAX = 10_000;

/** Silence after which a stream is opened again, in ms: the broker sends a comment in every 15 s. */
export const SILENCE_MS_MAX = 40_000;

/** Error code of a broker that has no streams. */
const NO_STREAM = "no_route";
/** Error code of a broker whose streams are all taken, or which is about to end. */
const NO_STREAM_LEFT = "too_many_streams";

/** Subject of a page: all queues, one of them, or topics, of which the broker streams no events. */
export type About =
  | { readonly kind: "queues" | "topics" }
  | { readonly kind: "queue"; readonly name: string };

/** Notice of the feed to a page: a frame with what has happened, or the request to ask the broker for it (`ask`). */
export type Notice = { readonly kind: "ask" } | { readonly kind: "frame"; readonly frame: FrameView };

/**
 * State of a feed.
 *
 * - `closed`: the page is not open or hidden, or a token is needed; `open()`, a reader who comes back, or a token ends
 *   that.
 * - `opening`: a stream is being opened, or waits to be opened again.
 * - `stream`: the broker sends what happens.
 * - `asking`: there is no stream of this, or none left; the page asks once a second.
 */
type FeedState = "closed" | "opening" | "stream" | "asking";

/** Notifies its subscribers of what happens in one queue or in all, as long as the page can be seen. */
export class Feed {
  readonly about: About;
  readonly #listeners = new Set<(notice: Notice) => void>();
  #state: FeedState = "closed";
  #abort: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #reopenMs = REOPEN_MS;

  constructor(about: About) {
    this.about = about;
  }

  get state(): FeedState {
    return this.#state;
  }

  open(): void {
    document.addEventListener("visibilitychange", this.#seen);
    addEventListener(TOKEN_GIVEN, this.#seen);
    this.#seen();
  }

  close(): void {
    document.removeEventListener("visibilitychange", this.#seen);
    removeEventListener(TOKEN_GIVEN, this.#seen);
    this.#end();
  }

  subscribe(listener: (notice: Notice) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  readonly #seen = () => {
    if (document.hidden) this.#end();
    else if (this.#state === "closed") void this.#read();
  };

  #end(): void {
    this.#abort?.abort();
    this.#abort = null;
    clearTimeout(this.#timer);
    this.#state = "closed";
  }

  async #read(): Promise<void> {
    const abort = new AbortController();
    this.#abort = abort;
    if (this.about.kind === "topics") return this.#ask(Infinity);
    this.#state = "opening";
    try {
      // A page of all queues shows figures, which come in any case, and which of them are paused.
      const { about } = this;
      const query = new URLSearchParams(
        about.kind === "queue" ? { queue: about.name } : { kind: "paused,resumed" },
      );
      const { body } = await request(`/events?${query}`, { signal: abort.signal });
      this.#state = "stream";
      this.#reopenMs = REOPEN_MS;
      // The stream begins with the state at this moment: events since the page last asked are not in it.
      this.#notify({ kind: "ask" });
      if (body !== null) {
        for await (const { name, data } of serverSentEvents(body, SILENCE_MS_MAX)) {
          if (name === "end") throw failureOf(data as EndView);
          this.#notify({ kind: "frame", frame: data as FrameView });
        }
      }
    } catch (error) {
      if (abort.signal.aborted) return;
      if (error instanceof Refused && error.code === NO_STREAM) return this.#ask(Infinity);
      if (error instanceof Refused && error.code === NO_STREAM_LEFT)
        return this.#ask(REOPEN_MS_MAX / ASK_PERIOD_MS);
      if (error instanceof TokenNeeded) {
        this.#state = "closed";
        // The page's own request is refused like the stream. The page asks for a token then, which opens the feed
        // again.
        return this.#notify({ kind: "ask" });
      }
    }
    if (abort.signal.aborted) return;
    this.#state = "opening";
    this.#notify({ kind: "ask" });
    this.#timer = setTimeout(() => void this.#read(), this.#reopenMs);
    this.#reopenMs = Math.min(REOPEN_MS_MAX, 2 * this.#reopenMs);
  }

  /** Has the page ask so many times, and then tries to open a stream again. */
  #ask(times: number): void {
    this.#state = "asking";
    this.#timer = setTimeout(() => {
      this.#notify({ kind: "ask" });
      if (times > 1) this.#ask(times - 1);
      else void this.#read();
    }, ASK_PERIOD_MS);
  }

  #notify(notice: Notice): void {
    for (const listener of [...this.#listeners]) listener(notice);
  }
}

/** Makes the error that a request would throw for the reason for which a stream has ended. */
function failureOf({ code, message }: EndView): Error {
  return code === "unauthorized" ? new TokenNeeded(message) : new Refused(message, code);
}
