import { ReceiveLedger } from "../sqs/receive-ledger.ts";
import type { SqsMessage } from "../sqs/sqs-message.ts";

/** A request that has arrived, with the queue's limit of open requests. */
interface Arrival {
  readonly queue: string;
  readonly body: string;
  readonly concurrencyMax: number;
}

/** Ledger of messages that queues owe to HTTP endpoints, too. */
export class PushLedger extends ReceiveLedger {
  /** Requests with a message that was done before: right only after a kill. */
  repeated = 0;
  pushed = 0;
  /** Most requests of a queue that were open at a time. */
  readonly openMax = new Map<string, number>();
  #kills = 0;
  /** Queue of each open request, by its message. */
  readonly #open = new Map<SqsMessage, string>();
  /** Number of kills at the time of the successful answer for a message. */
  readonly #doneAfter = new Map<SqsMessage, number>();
  /** Latest message of each group that has come. */
  readonly #latest = new Map<string, SqsMessage>();

  /** Enters a request of the broker. Returns its message; `null` if the body was never sent. */
  arrived({ queue, body, concurrencyMax }: Arrival): SqsMessage | null {
    const message = this.identify(queue, body);
    if (message === null) return null;
    this.pushed += 1;
    const what = `message ${message.tag} of queue "${queue}"`;
    if (message.queue !== queue) this.violation(`${what} was sent to "${message.queue}"`);
    if (this.#open.has(message)) this.violation(`${what} is under way twice`);
    const doneAfter = this.#doneAfter.get(message);
    if (doneAfter === this.#kills)
      this.violation(`${what} came again after it was done, without a kill between`);
    if (doneAfter !== undefined) this.repeated += 1;
    this.#checkOrder(what, message);
    this.#open.set(message, queue);
    const open = [...this.#open.values()].filter((of) => of === queue).length;
    if (open > concurrencyMax) this.violation(`queue "${queue}" has ${open} requests open at a time`);
    this.openMax.set(queue, Math.max(open, this.openMax.get(queue) ?? 0));
    return message;
  }

  /** Enters the end of a request: an answer or a closed connection. @param isDone whether that was a success. */
  left(message: SqsMessage, isDone: boolean): void {
    if (!this.#open.delete(message) || !isDone) return;
    this.#doneAfter.set(message, this.#kills);
    this.change(message, () => {
      message.deletion = "done";
    });
  }

  /** Enters a kill of the broker: none of its requests is open any more. */
  killed(): void {
    this.#kills += 1;
    this.#open.clear();
  }

  /** Checks that all earlier messages of the group are done, so that none of them comes after this one. */
  #checkOrder(what: string, message: SqsMessage): void {
    const { group } = message;
    if (group === null) return;
    const latest = this.#latest.get(group);
    if (latest === undefined || latest.tag <= message.tag) this.#latest.set(group, message);
    else this.violation(`${what} came after message ${latest.tag} of its group`);
    const earlier = this.messages.find(
      (each) => each.group === group && each.tag < message.tag && this.isOwed(each),
    );
    if (earlier !== undefined)
      this.violation(`${what} came before message ${earlier.tag} of its group, which is not done`);
  }
}
