import { errorText, TokenNeeded } from "./call.ts";

/** How long a page waits before it asks again after there was no answer, in ms. */
const RETRY_MS = 2_000;
/** How long a page waits for an answer before it may ask again, in ms: a connection that has hung never ends. */
const ANSWER_MS_MAX = 30_000;

/** State of a query to the broker, with the latest answer. */
export type Live<Answer> =
  | { readonly kind: "loading" }
  | { readonly kind: "live"; readonly answer: Answer }
  /** The last request failed; `answer` is the one before it. */
  | { readonly kind: "lost"; readonly reason: string; readonly answer: Answer | null }
  | { readonly kind: "tokenNeeded"; readonly reason: string };

/** Returns the latest answer; `null` if there is none. */
export function answerOf<Answer>(live: Live<Answer>): Answer | null {
  return "answer" in live ? live.answer : null;
}

/** Asks the broker for one thing again and again, and shows what it answers. */
export class LiveQuery<Answer> {
  readonly #ask: () => Promise<Answer>;
  readonly #show: (live: Live<Answer>) => void;
  readonly #periodMs: number;
  #live: Live<Answer>;
  /** Number of the latest question. */
  #asked = 0;
  #isUnderWay = false;
  /** When the latest question began or was answered, in ms. */
  #changedMs = Number.NEGATIVE_INFINITY;
  #isDue = false;
  #isOver = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param periodMs the shortest time between an answer and the question after it, in ms.
   * @param before what is shown until there is an answer.
   */
  constructor(
    ask: () => Promise<Answer>,
    show: (live: Live<Answer>) => void,
    periodMs: number,
    before: Live<Answer> = { kind: "loading" },
  ) {
    this.#ask = ask;
    this.#show = show;
    this.#periodMs = periodMs;
    this.#live = before;
  }

  /** Asks at once, after an action. Answers to questions before it are not shown: they would turn the page back. */
  refresh(): void {
    void this.#run();
  }

  /** Asks once the question under way is answered and the period is over: a slow broker's answers are shown too. */
  renew(): void {
    this.#isDue = true;
    if (!this.#isUnderWay) this.#later(this.#changedMs + this.#periodMs);
    else this.#later(this.#changedMs + ANSWER_MS_MAX);
  }

  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #later(atMs: number): void {
    this.#timer ??= setTimeout(
      () => {
        this.#timer = undefined;
        if (!document.hidden) void this.#run();
      },
      Math.max(0, atMs - performance.now()),
    );
  }

  async #run(): Promise<void> {
    this.#changed();
    const question = ++this.#asked;
    this.#isUnderWay = true;
    this.#isDue = false;
    let live: Live<Answer>;
    try {
      live = { kind: "live", answer: await this.#ask() };
    } catch (error) {
      const reason = errorText(error);
      if (error instanceof TokenNeeded)
        live = { kind: "tokenNeeded", reason: reason || this.#tokenProblem() };
      else live = { kind: "lost", reason, answer: answerOf(this.#live) };
    }
    if (this.#isOver || this.#asked !== question) return;
    this.#changed();
    this.#isUnderWay = false;
    this.#live = live;
    this.#show(live);
    if (live.kind !== "live") this.#later(this.#changedMs + RETRY_MS);
    else if (this.#isDue) this.renew();
  }

  /** Returns what was wrong with the last token, which the page asks without since; empty if there was none. */
  #tokenProblem(): string {
    return this.#live.kind === "tokenNeeded" ? this.#live.reason : "";
  }

  /** Notes the time of a change, and cancels the next question. */
  #changed(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#changedMs = performance.now();
  }
}
