import type { Message } from "./message.ts";

/** Verdict of a consumer on a message that it holds. */
export type AnswerVerdict =
  | { readonly kind: "ack" }
  | { readonly kind: "retry"; readonly delayMs: number }
  /** No consumer ran the delivery: it does not count. */
  | { readonly kind: "release" }
  /** No consumer ran it, but it may have been an endpoint's trial, which counts: that cannot be seen from outside. */
  | { readonly kind: "releaseOrRetry"; readonly delayMs: number }
  /** No other attempt can help. */
  | { readonly kind: "giveUp" };

/** Verdict of a consumer that came in time or not. */
export type Verdict =
  | AnswerVerdict
  /** An answer that came after the longest time of a delivery: the queue may have ended the delivery before. */
  | {
      readonly kind: "overdue";
      readonly answer: AnswerVerdict;
      /** Delay of the retry if the queue has ended the delivery, in ms. */
      readonly delayMs: number;
    };

/** A verdict that has reached the queue. */
interface Reached {
  readonly verdict: Verdict;
  readonly epoch: number;
  /** Last version written when it arrived: the next commit of that epoch has to carry it out. */
  readonly version: number;
}

/** Messages that left a queue under one lease, and what came back. */
export class DeliveryRecord {
  readonly leaseId: number;
  readonly epoch: number;
  /** Message ids, in the order of the messages. */
  readonly ids: string[];
  readonly #messages: Message[];
  readonly #reached = new Map<Message, Reached>();

  constructor(leaseId: number, epoch: number, messages: readonly Message[], ids: readonly string[]) {
    this.leaseId = leaseId;
    this.ids = [...ids];
    this.epoch = epoch;
    this.#messages = [...messages];
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** Adds messages of the same lease that have left later. */
  add(messages: readonly Message[], ids: readonly string[]): this {
    this.#messages.push(...messages);
    this.ids.push(...ids);
    return this;
  }

  /** Records a verdict. The first one of an epoch counts: a later one finds the lease ended. */
  reach(message: Message, verdict: Verdict, epoch: number, version: number): void {
    const known = this.#reached.get(message);
    if (known !== undefined && known.epoch === epoch) return;
    this.#reached.set(message, { verdict, epoch, version });
  }

  /** The verdict that a commit has to carry out, if there is one. */
  verdictFor(message: Message, epoch: number, version: number): Verdict | null {
    const reached = this.#reached.get(message);
    return reached !== undefined && reached.epoch === epoch && reached.version < version
      ? reached.verdict
      : null;
  }
}
