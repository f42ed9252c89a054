import { Ledger, type Tally } from "@sluice/harness/ledger";
import type { ReceivedMessage } from "./client.ts";
import { DEAD_QUEUE, queueNamed, VISIBILITY_MS } from "./queues.ts";
import type { Receive, SqsMessage } from "./sqs-message.ts";

/** A message as a client has received it. */
export interface Taken {
  readonly message: SqsMessage;
  readonly receive: Receive;
}

const UNKNOWN = Number.NEGATIVE_INFINITY;

/** Totals of a ledger at the end of a run. */
export interface SqsSummary extends Tally {
  /** Calls that were refused. */
  readonly refused: number;
  /** Sends that were made again, with their deduplication id, since no answer came. */
  readonly resent: number;
  readonly received: number;
  readonly deleted: number;
  /** Number of messages that came again, by the reason that allows it. */
  readonly again: ReceiveLedger["again"];
  /** Number of answers that came after the answer to a later receive. */
  readonly late: number;
}

/**
 * Ledger of messages that queues owe to clients of SQS: which were sent, received and deleted, and how calls were
 * answered. It checks each receive when its answer comes. All times are the clients' own: a call takes effect between
 * its beginning and its answer.
 */
export class ReceiveLedger extends Ledger<SqsMessage> {
  readonly again = { "its visibility timeout ended": 0, "its deletion was not answered": 0 };
  late = 0;
  refusedCalls = 0;
  received = 0;
  resent = 0;
  readonly #now: () => number;
  readonly #groups = new Map<string, SqsMessage[]>();

  constructor(now: () => number = Date.now) {
    super();
    this.#now = now;
  }

  /** Adds a message that is about to be sent, and makes its body. Those of a group are sent one after the other. */
  intend(given: Pick<SqsMessage, "queue" | "group" | "bytes" | "delayMs">): {
    readonly message: SqsMessage;
    readonly body: string;
  } {
    const { message, body } = this.add({
      ...given,
      tag: this.messages.length,
      sentAtMs: this.#now(),
      outcome: "unknown",
      messageId: null,
      received: null,
      deletion: "none",
      changesUnderWay: 0,
      changedAtMs: Number.NEGATIVE_INFINITY,
    });
    if (message.group !== null) {
      const group = this.#groups.get(message.group) ?? [];
      this.#groups.set(message.group, group);
      group.push(message);
    }
    return { message, body };
  }

  /** Enters a refusal of a call. Its effect on messages is for the caller to enter. */
  refusedWith(text: string): void {
    this.refusedCalls += 1;
    this.refusals.add(text);
  }

  /**
   * Enters the answer to a receive.
   *
   * @param askedAtMs time of the call.
   * @returns messages that the consumer may settle: all but those of late answers and unknown bodies.
   */
  receivedFrom(queue: string, given: readonly ReceivedMessage[], askedAtMs: number): Taken[] {
    const together = new Set<SqsMessage>();
    return given.flatMap((each) => {
      const message = this.#identify(queue, each.Body);
      if (message === null) return [];
      const count = Number(each.Attributes?.ApproximateReceiveCount);
      const receive = {
        queue,
        handle: each.ReceiptHandle,
        count,
        askedAtMs,
        // A change by the receipt of an earlier receive may have come after this one.
        hiddenUntilMs: isChanging(message, askedAtMs) ? UNKNOWN : askedAtMs + VISIBILITY_MS,
        knownSinceMs: askedAtMs,
      };
      if (this.#isLate(message, receive)) {
        this.late += 1;
        return [];
      }
      this.received += 1;
      this.#check(message, receive, each.MessageId, together);
      together.add(message);
      this.change(message, () => {
        message.messageId = each.MessageId;
        message.received = receive;
        message.deletion = "none";
      });
      return { message, receive };
    });
  }

  /** Enters a call that deletes a message: its outcome is unknown until it is answered. */
  deleting({ message, receive }: Taken): void {
    if (message.received !== receive) return;
    this.change(message, () => {
      message.deletion = "unknown";
    });
  }

  /**
   * Enters a deletion that was answered without an error. It is final if the message was still hidden by the receive
   * that it names. If the message was visible or received again meanwhile, its outcome is unknown.
   */
  deleted({ message, receive }: Taken): void {
    const isLatest = message.received === receive;
    if (message.deletion === "done") return;
    this.change(message, () => {
      message.deletion = isLatest && this.#now() < receive.hiddenUntilMs ? "done" : "unknown";
    });
  }

  /** Enters a deletion that was refused: the message comes again. */
  notDeleted({ message, receive }: Taken): void {
    if (message.received !== receive) return;
    this.change(message, () => {
      message.deletion = "none";
    });
  }

  /**
   * Enters a call that changes a visibility timeout. Until it succeeds it is unknown how long the message is hidden,
   * also by a later receive: a refused call may have had its effect.
   */
  changing({ message, receive }: Taken): void {
    message.changesUnderWay += 1;
    receive.hiddenUntilMs = UNKNOWN;
    if (message.received !== null) message.received.hiddenUntilMs = UNKNOWN;
  }

  /** Enters the success of such a call. */
  changed({ message, receive }: Taken, askedAtMs: number, visibilityMs: number): void {
    message.changesUnderWay -= 1;
    message.changedAtMs = this.#now();
    if (message.changesUnderWay > 0) return;
    receive.hiddenUntilMs = askedAtMs + visibilityMs;
    receive.knownSinceMs = message.changedAtMs;
  }

  /** Enters a move of the broker's clock while no call was under way: every lease and delay is over. */
  clockMoved(): void {
    for (const message of this.messages) {
      message.delayMs = 0;
      if (message.received !== null) message.received.hiddenUntilMs = UNKNOWN;
    }
  }

  /** Call when everything has been received. */
  summary(): SqsSummary {
    const { refusedCalls: refused, resent, received, late, again } = this;
    const deleted = this.messages.filter(({ deletion }) => deletion === "done").length;
    return { ...this.tally(), refused, resent, received, deleted, late, again: { ...again } };
  }

  protected override isDone({ deletion }: SqsMessage): boolean {
    return deletion !== "none";
  }

  protected override hasCome({ received }: SqsMessage): boolean {
    return received !== null;
  }

  #identify(queue: string, body: string): SqsMessage | null {
    const message = this.identify(queue, body);
    if (message === null) return null;
    const isDead = queue === DEAD_QUEUE && queueNamed(message.queue).receivesMax !== null;
    if (queue === message.queue || isDead) return message;
    this.violation(`message ${message.tag} of queue "${message.queue}" came out of "${queue}"`);
    return null;
  }

  /** Whether the answer to a later receive has come before this one, as when the broker's process stands still. */
  #isLate({ received }: SqsMessage, { queue, count }: Receive): boolean {
    if (received === null) return false;
    if (received.queue === queue) return count < received.count;
    return received.queue === DEAD_QUEUE;
  }

  #check(message: SqsMessage, receive: Receive, messageId: string, together: ReadonlySet<SqsMessage>): void {
    const { tag, group, received, deletion } = message;
    const what = `message ${tag} of queue "${receive.queue}"`;
    const { receivesMax } = queueNamed(receive.queue);
    if (receivesMax !== null && receive.count > receivesMax) {
      this.violation(`${what} was received for the ${receive.count}th time`);
    }
    if (message.messageId !== null && message.messageId !== messageId) {
      this.violation(`${what} came as two messages`);
    }
    if (group !== null) this.#checkOrder(what, message, group, together);
    if (deletion === "done") this.violation(`${what} came again after its deletion`);
    if (received === null) {
      const earlyMs = message.sentAtMs + message.delayMs - this.#now();
      if (earlyMs > 0) this.violation(`${what} came ${earlyMs} ms before its delay was over`);
      return;
    }
    this.again[deletion === "unknown" ? "its deletion was not answered" : "its visibility timeout ended"] +=
      1;
    const hiddenMs = received.hiddenUntilMs - this.#now();
    const isBound = receive.askedAtMs >= received.knownSinceMs;
    if (isBound && hiddenMs > 0)
      this.violation(`${what} came ${hiddenMs} ms before its visibility timeout was over`);
    if (received.queue === receive.queue && receive.count === received.count) {
      this.violation(`${what} was received twice for the ${receive.count}th time`);
    }
  }

  /** Checks that each message that was sent before it in its group is gone, or came in the same answer. */
  #checkOrder(what: string, message: SqsMessage, group: string, together: ReadonlySet<SqsMessage>): void {
    const sent = this.#groups.get(group) ?? [];
    for (let at = sent.indexOf(message) - 1; at >= 0; at--) {
      const earlier = sent[at];
      if (earlier === undefined || !this.isOwed(earlier) || together.has(earlier)) continue;
      this.violation(`${what} came before message ${earlier.tag} of its group, which is not deleted`);
      return;
    }
  }
}

/** Whether the visibility timeout of a message may have been changed since the call of a receive. */
function isChanging({ changesUnderWay, changedAtMs }: SqsMessage, askedAtMs: number): boolean {
  return changesUnderWay > 0 || changedAtMs >= askedAtMs;
}
