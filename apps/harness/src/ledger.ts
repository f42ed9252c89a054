import { bodyOf, tagOf } from "./body.ts";

/** Answer to a send, as its producer got it; `unknown` if there was none. */
type SendOutcome = "unknown" | "acknowledged" | "refused";

/** A message as its producer knows it. */
export interface Sent {
  /** Its number, from 0 on; it is in its body. */
  readonly tag: number;
  readonly queue: string;
  readonly bytes: number;
  outcome: SendOutcome;
}

/** Figures that every ledger reports in the end. */
export interface Tally {
  readonly sent: number;
  readonly acknowledged: number;
  readonly refused: number;
  /** Sends without an answer, and how many of their messages were stored all the same. */
  readonly unanswered: number;
  readonly unansweredButStored: number;
  /** Acknowledged messages that never came, or never to an end. Must be none. */
  readonly lost: number;
  readonly violations: number;
  readonly violationTexts: readonly string[];
}

/** Violations that are kept with their text; all of them are counted. */
const VIOLATION_TEXTS_MAX = 20;

/**
 * Ledger of what was sent to queues, how sends were answered, and what is owed to consumers: the promises of a queue to
 * its clients. A message is known by its body, which no two have in common. What else a consumer can hold a queue to
 * depends on how it consumes, and is checked by the subclasses.
 */
export abstract class Ledger<Message extends Sent> {
  /** Things that must never happen, the first of them with their text. */
  violations = 0;
  readonly violationTexts: string[] = [];
  /** Texts that calls were refused with, each once. */
  readonly refusals = new Set<string>();
  readonly #messages: Message[] = [];
  #owed = 0;

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** Messages that were acknowledged to their producer and that no consumer is done with. */
  get owed(): number {
    return this.#owed;
  }

  acknowledged(message: Message): void {
    this.change(message, () => {
      message.outcome = "acknowledged";
    });
  }

  refused(message: Message): void {
    this.change(message, () => {
      message.outcome = "refused";
    });
  }

  violation(text: string): void {
    this.violations += 1;
    if (this.violationTexts.length < VIOLATION_TEXTS_MAX) this.violationTexts.push(text);
  }

  /** Whether a consumer is done with a message: then it is not owed any more. */
  protected abstract isDone(message: Message): boolean;

  /** Whether a message has come out of a queue. */
  protected abstract hasCome(message: Message): boolean;

  protected isOwed(message: Message): boolean {
    return message.outcome === "acknowledged" && !this.isDone(message);
  }

  /** Adds a message that is about to be sent; its tag is the number of those before it. Answers with its body too. */
  protected add(message: Message): { readonly message: Message; readonly body: string } {
    this.#messages.push(message);
    if (this.isOwed(message)) this.#owed += 1;
    return { message, body: bodyOf(message.tag, message.bytes) };
  }

  /** Changes a message and keeps the number of owed ones right. */
  protected change(message: Message, change: () => void): void {
    if (this.isOwed(message)) this.#owed -= 1;
    change();
    if (this.isOwed(message)) this.#owed += 1;
  }

  /** The message that has come out of a queue; `null`, and a violation, for a body that was never sent. */
  protected identify(queue: string, body: string): Message | null {
    const message = this.#messages[tagOf(body) ?? -1];
    if (message !== undefined && bodyOf(message.tag, message.bytes) === body) return message;
    this.violation(`queue "${queue}" delivered a body that was never sent: ${body.slice(0, 40)}`);
    return null;
  }

  /** Call when everything has been delivered: what is owed then is lost. */
  protected tally(): Tally {
    const messages = this.#messages;
    const count = (outcome: SendOutcome) => messages.filter((message) => message.outcome === outcome).length;
    const { violations, violationTexts } = this;
    return {
      sent: messages.length,
      acknowledged: count("acknowledged"),
      refused: count("refused"),
      unanswered: count("unknown"),
      unansweredButStored: messages.filter((each) => each.outcome === "unknown" && this.hasCome(each)).length,
      lost: this.#owed,
      violations,
      violationTexts,
    };
  }
}
