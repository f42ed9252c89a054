import type { Message } from "./message.ts";

/** Verdict of a consumer on a message that it holds. */
export type AnswerVerdict =
  | { readonly kind: "ack" }
  | { readonly kind: "retry"; readonly delayMs: number }
  /** Nobody ran the delivery: it does not count. */
  | { readonly kind: "release" }
  /** Nobody ran it, and it may have been one that counts all the same: who asked first cannot be seen from outside. */
  | { readonly kind: "releaseOrRetry"; readonly delayMs: number }
  /** No other attempt can help. */
  | { readonly kind: "giveUp" };

/** Verdict of a consumer, with whether it comes in time. */
export type Verdict =
  | AnswerVerdict
  /** An answer that comes when no delivery may take longer: the queue may have looked at the clock before. */
  | {
      readonly kind: "overdue";
      readonly answer: AnswerVerdict;
      /** Delay of the retry by the clock, in ms. */
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

  /** More messages of the same lease have left. */
  add(messages: readonly Message[], ids: readonly string[]): this {
    this.#messages.push(...messages);
    this.ids.push(...ids);
    return this;
  }

  /** Notes what is wanted of a message. The first verdict counts: what comes later finds the lease ended. */
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
