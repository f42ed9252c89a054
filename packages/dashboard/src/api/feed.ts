import { type EndView, type FrameView, Refused, request, TOKEN_GIVEN, TokenNeeded } from "./call.ts";
import { serverSentEvents } from "./server-sent-events.ts";

/** How often a broker without a stream is asked, in ms. */
const ASK_PERIOD_MS = 1_000;
/** Waits before a stream that has ended is opened again, in ms: the first one, doubled each time, and the longest. */
const REOPEN_MS = 500;
const REOPEN_MS_MAX = 10_000;

/** Error codes of a broker that has no stream, or none left. */
const NO_STREAM: readonly string[] = ["no_route", "too_many_streams"];

/** Subject of a page: all queues, one of them, or topics, of which the broker streams no events. */
export type About =
  | { readonly kind: "queues" | "topics" }
  | { readonly kind: "queue"; readonly name: string };

/** Notice of the feed to a page: a frame with what has happened, or that the page is to ask for it. */
export type Notice = { readonly kind: "ask" } | { readonly kind: "frame"; readonly frame: FrameView };

/**
 * State of a feed.
 *
 * - `closed`: the page is hidden, or a token is needed; `open()`, a reader who comes back, or a token ends that.
 * - `opening`: a stream is being opened, or waits to be opened again.
 * - `stream`: the broker sends what happens.
 * - `asking`: the broker has no stream; the page asks once a second.
 */
type FeedState = "closed" | "opening" | "stream" | "asking";

/** Notifies its subscribers of what happens in one queue or in all, as long as the page can be seen. */
export class Feed {
  readonly about: About;
  readonly #listeners = new Set<(notice: Notice) => void>();
  readonly #watchers = new Set<(state: FeedState) => void>();
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

  watch(watcher: (state: FeedState) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  readonly #seen = () => {
    if (document.hidden) this.#end();
    else if (this.#state === "closed") void this.#read();
  };

  #end(): void {
    this.#abort?.abort();
    this.#abort = null;
    clearTimeout(this.#timer);
    this.#become("closed");
  }

  async #read(): Promise<void> {
    const abort = new AbortController();
    this.#abort = abort;
    if (this.about.kind === "topics") return this.#ask();
    this.#become("opening");
    try {
      // Of all queues their figures are enough: single events are not shown there.
      const { about } = this;
      const query = new URLSearchParams(
        about.kind === "queue" ? { queue: about.name } : { kind: "paused,resumed" },
      );
      const { body } = await request(`/events?${query}`, { signal: abort.signal });
      this.#become("stream");
      this.#reopenMs = REOPEN_MS;
      // The stream begins with the state at this moment: events since the page last asked are not in it.
      this.#notify({ kind: "ask" });
      if (body !== null) {
        for await (const { name, data } of serverSentEvents(body)) {
          if (name === "end") throw failureOf(data as EndView);
          this.#notify({ kind: "frame", frame: data as FrameView });
        }
      }
    } catch (error) {
      if (abort.signal.aborted) return;
      if (error instanceof Refused && NO_STREAM.includes(error.code)) return this.#ask();
      if (error instanceof TokenNeeded) {
        this.#become("closed");
        // The page's own request is refused like the stream. The page asks for a token then, which opens the feed
        // again.
        return this.#notify({ kind: "ask" });
      }
    }
    if (abort.signal.aborted) return;
    this.#become("opening");
    this.#notify({ kind: "ask" });
    this.#timer = setTimeout(() => void this.#read(), this.#reopenMs);
    this.#reopenMs = Math.min(REOPEN_MS_MAX, 2 * this.#reopenMs);
  }

  #ask(): void {
    this.#become("asking");
    this.#timer = setTimeout(() => {
      this.#notify({ kind: "ask" });
      this.#ask();
    }, ASK_PERIOD_MS);
  }

  #notify(notice: Notice): void {
    for (const listener of [...this.#listeners]) listener(notice);
  }

  #become(state: FeedState): void {
    if (state === this.#state) return;
    this.#state = state;
    for (const watcher of [...this.#watchers]) watcher(state);
  }
}

/** The error of a request that is refused for the same reason as a stream that has ended. */
function failureOf({ code, message }: EndView): Error {
  return code === "unauthorized" ? new TokenNeeded(message) : new Refused(message, code);
}
