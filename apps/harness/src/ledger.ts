import { bodyOf, tagOf } from "./body.ts";

/** Answer to a send; `unknown` if there was none. */
type SendOutcome = "unknown" | "acknowledged" | "refused";

/** A message that was sent. */
export interface Sent {
  /** Its number, from 0 on, which is in its body. */
  readonly tag: number;
  readonly queue: string;
  readonly bytes: number;
  outcome: SendOutcome;
}

/** Totals that every ledger has at the end of a run. */
export interface Tally {
  readonly sent: number;
  readonly acknowledged: number;
  readonly refused: number;
  /** Messages whose sends had no answer. */
  readonly unanswered: number;
  /** Messages among them that were stored all the same. */
  readonly unansweredButStored: number;
  /** Acknowledged messages that no consumer is done with: must be none. */
  readonly lost: number;
  readonly violations: number;
  readonly violationTexts: readonly string[];
}

/** Most violations whose texts are kept; all of them are counted. */
const VIOLATION_TEXTS_MAX = 20;

/**
 * Ledger of messages that were sent to queues, of the answers to the sends, and of the messages that are owed to
 * consumers. A message is identified by its body, which is unique. Subclasses check the promises that depend on the way
 * of consuming.
 */
export abstract class Ledger<Message extends Sent> {
  /** Number of events that must never happen. */
  violations = 0;
  /** Texts of the first `VIOLATION_TEXTS_MAX` of them. */
  readonly violationTexts: string[] = [];
  /** Texts of refusals, each once. */
  readonly refusals = new Set<string>();
  readonly #messages: Message[] = [];
  #owed = 0;

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** Number of messages that were acknowledged to their producer and that no consumer is done with. */
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

  /** Whether a consumer is done with a message, which is then not owed any more. */
  protected abstract isDone(message: Message): boolean;

  /** Whether a message has come out of a queue. */
  protected abstract hasCome(message: Message): boolean;

  protected isOwed(message: Message): boolean {
    return message.outcome === "acknowledged" && !this.isDone(message);
  }

  /** Adds a message that is about to be sent, and makes its body. Its tag must be the number of messages before it. */
  protected add(message: Message): { readonly message: Message; readonly body: string } {
    this.#messages.push(message);
    if (this.isOwed(message)) this.#owed += 1;
    return { message, body: bodyOf(message.tag, message.bytes) };
  }

  /** Changes a message, and updates the number of owed ones. */
  protected change(message: Message, change: () => void): void {
    if (this.isOwed(message)) this.#owed -= 1;
    change();
    if (this.isOwed(message)) this.#owed += 1;
  }

  /** Finds the message that has come out of a queue. `null`, and a violation, for a body that was never sent. */
  protected identify(queue: string, body: string): Message | null {
    const message = this.#messages[tagOf(body) ?? -1];
    if (message !== undefined && bodyOf(message.tag, message.bytes) === body) return message;
    this.violation(`queue "${queue}" delivered a body that was never sent: ${body.slice(0, 40)}`);
    return null;
  }

  /** Sums up at the end of a run: messages that are still owed count as lost. */
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
