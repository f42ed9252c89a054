import {
  type FramedAnswer,
  type FrontMessage,
  Ids,
  IdTable,
  REGATHER_SHARE,
  type ReadRequest,
} from "@sluice/protocol";
import { Pace } from "./pace.ts";

/**
 * How long a frame waits at most for the answers to the one before it, in ms. What comes meanwhile goes along: with 50 senders
 * a frame takes 22 requests instead of 7, and the broker spends a quarter less on each.
 */
export const HOLD_MS_MAX = 2;
/** Requests that a frame must have taken for the next one to wait: who is few is better served at once. */
export const HOLD_REQUESTS_MIN = 2;
/** Called with the answer; with `null` when nobody knows what has become of the request. */
export type Answered = (answer: FramedAnswer | null) => void;

/** Brings frames to the broker. */
export interface Carrier {
  /** Whether a frame can be brought now. */
  readonly isOpen: boolean;
  /** Only while it is open. */
  carry(frame: readonly FrontMessage[]): void;
  /** Nothing is brought any more, and nothing heard. */
  close(): void;
}

/** What a carrier tells. */
export interface CarrierEvents {
  answered(answers: readonly FramedAnswer[]): void;
  /** Nobody knows what has become of what it brought. */
  lost(): void;
}

export interface FrameLinkOptions {
  open(events: CarrierEvents): Carrier;
  /** How long a frame waits at most for the answers to the one before it, in ms. Default `HOLD_MS_MAX`. */
  readonly holdMsMax?: number;
  /** Whether a frame waits for those to come again who were answered together. Default true. */
  readonly regathers?: boolean;
  /** How long a frame waits at most for others that are about to come, in ms: less than timers can tell. Default 0. */
  readonly gatherMsMax?: number;
  /** Knows the clients. Default: a `Pace` of its own. */
  readonly pace?: KnownPace;
}

type KnownPace = Pick<Pace, "arrived" | "sent" | "answered" | "putOffMs" | "regatherMs" | "companyWithin">;

/**
 * For a broker in the same process: to hand a frame over costs nothing, and it is answered before another could be. What counts
 * is how many requests share a commit.
 */
export const NEAR = { holdMsMax: 0, regathers: false, gatherMsMax: 0.5 } as const;

/** A request that is not answered yet. */
interface Waiting {
  readonly id: number;
  readonly answered: Answered;
  readonly sinceMs: number;
}

/**
 * Hands requests to the broker. What comes in one turn of the event loop goes in one frame, and so does what comes while the
 * broker is busy: the more there is to do, the less each costs.
 */
export class FrameLink {
  readonly #options: FrameLinkOptions;
  readonly #ids = new Ids();
  readonly #waiting = new IdTable<Waiting>();
  readonly #pace: KnownPace;
  readonly #carrier: Carrier;
  #messages: FrontMessage[] = [];
  /** Requests among them, and how many the frame waits for: of those who were answered together, most come again together. */
  #requests = 0;
  #expected = 0;
  /** Messages of the latest frame, 0 once something is answered. */
  #unanswered = 0;
  #sentMs = Number.NEGATIVE_INFINITY;
  #regatheredMs = Number.NEGATIVE_INFINITY;
  #held: NodeJS.Timeout | undefined;
  #isGathering = false;
  #idle: (() => void)[] = [];

  constructor(options: FrameLinkOptions) {
    this.#options = options;
    this.#pace = options.pace ?? new Pace();
    this.#carrier = options.open({
      answered: (answers) => this.#receive(answers),
      lost: () => this.#lost(),
    });
  }

  /** Whether a request can be handed over now. */
  get isOpen(): boolean {
    return this.#carrier.isOpen;
  }

  /** Hands a request over; its id. Only while the link is open. */
  submit(request: ReadRequest, answered: Answered): number {
    const id = this.#ids.take();
    const sinceMs = performance.now();
    this.#waiting.set(id, { id, answered, sinceMs });
    this.#pace.arrived(sinceMs, this.#waiting.size);
    this.#requests += 1;
    const { method, url, headers, body } = request;
    this.#say({ kind: "request", request: { id, method, url, headers, body } });
    return id;
  }

  /** Says that the client of a request has gone: nothing is to be kept for it. */
  gone(id: number): void {
    this.#say({ kind: "gone", id });
    this.#forget(id);
    this.#tellIfIdle();
  }

  /** Says that a watched answer was written to its client. */
  written(id: number): void {
    this.#say({ kind: "written", id });
  }

  /** Says that nobody is to wait for anything any more: what waits for messages is answered with none. */
  stopping(): void {
    if (this.isOpen) this.#say({ kind: "stopping" });
  }

  /** Resolves when every request is answered. */
  whenIdle(): Promise<void> {
    if (this.#waiting.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  close(): void {
    clearTimeout(this.#held);
    this.#carrier.close();
  }

  /** Nobody waits for its answer any more: another request may have its place. */
  #forget(id: number): void {
    if (this.#waiting.delete(id)) this.#ids.free(id);
  }

  #lost(): void {
    const waiting = [...this.#waiting.values()];
    for (const { id } of waiting) this.#forget(id);
    this.#takeMessages();
    this.#unanswered = 0;
    clearTimeout(this.#held);
    for (const { answered } of waiting) answered(null);
    this.#tellIfIdle();
  }

  #receive(given: readonly FramedAnswer[]): void {
    const nowMs = performance.now();
    let answers = 0;
    for (const answer of given) {
      const waiting = this.#waiting.get(answer.id);
      if (waiting === undefined) continue;
      this.#forget(answer.id);
      answers += 1;
      this.#pace.answered(nowMs - waiting.sinceMs, nowMs);
      waiting.answered(answer);
    }
    this.#tellIfIdle();
    this.#unanswered = 0;
    if (answers > 1 && this.#options.regathers !== false) this.#regather(answers);
    this.#schedule();
  }

  /** Lets the frame wait for those who were answered, too. */
  #regather(answers: number): void {
    const ms = this.#pace.regatherMs;
    if (ms === 0) return;
    if (this.#expected === 0) {
      this.#expected = this.#requests;
      // To write the answers has taken a while.
      this.#regatheredMs = performance.now() + ms;
    }
    this.#expected += REGATHER_SHARE * answers;
  }

  #say(message: FrontMessage): void {
    this.#messages.push(message);
    const isGathered = this.#expected > 0 && this.#requests >= this.#expected;
    if (isGathered) this.#expected = 0;
    if (isGathered || this.#messages.length === 1) this.#schedule();
  }

  /** Sends what waits when it is time. */
  #schedule(): void {
    if (this.#messages.length === 0) return;
    clearTimeout(this.#held);
    const waitMs = this.#dueMs() - performance.now();
    if (waitMs > 0) this.#held = setTimeout(() => this.#send(), waitMs);
    else this.#sendSoon();
  }

  /** When the next frame may be sent. */
  #dueMs(): number {
    const { holdMsMax = HOLD_MS_MAX } = this.#options;
    const isHeld = this.#unanswered >= HOLD_REQUESTS_MIN;
    const dueMs = this.#sentMs + Math.max(isHeld ? holdMsMax : 0, this.#pace.putOffMs);
    return this.#requests < this.#expected ? Math.max(dueMs, this.#regatheredMs) : dueMs;
  }

  /** Sends after what else has come in by now, and what is about to come. */
  #sendSoon(): void {
    const { gatherMsMax = 0 } = this.#options;
    const company = gatherMsMax === 0 ? 0 : this.#pace.companyWithin(gatherMsMax);
    if (company === 0) setImmediate(() => this.#send());
    else if (!this.#isGathering) this.#gather(company, performance.now() + gatherMsMax);
  }

  /** Looks again and again whether enough has come: no timer is as short as that. */
  #gather(company: number, endMs: number): void {
    this.#isGathering = this.#requests < company && performance.now() < endMs;
    if (this.#isGathering) setImmediate(() => this.#gather(company, endMs));
    else this.#send();
  }

  #send(): void {
    clearTimeout(this.#held);
    const messages = this.#takeMessages();
    if (messages.length === 0 || !this.isOpen) return;
    this.#unanswered = messages.length;
    this.#sentMs = performance.now();
    this.#pace.sent(this.#sentMs);
    this.#carrier.carry(messages);
  }

  /** What waits. The next frame begins without anything, and waits for nobody. */
  #takeMessages(): FrontMessage[] {
    const messages = this.#messages;
    this.#messages = [];
    this.#requests = 0;
    this.#expected = 0;
    return messages;
  }

  #tellIfIdle(): void {
    if (this.#waiting.size > 0) return;
    for (const tell of this.#idle.splice(0)) tell();
  }
}
