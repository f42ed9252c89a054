import { Ledger, type Tally } from "@sluice/harness/ledger";
import type { BatchReport } from "../../workers/wire.ts";
import { DEAD_LETTER_QUEUE, settingsOf } from "../cluster/topology.ts";
import { isSettled, type Message, type Visit } from "./message.ts";

/** Message that is about to be sent. */
interface Intention {
  readonly queue: string;
  readonly bytes: number;
  readonly delayMs: number;
}

/** A delivery of one message. */
export interface Delivered {
  readonly message: Message;
  readonly visit: Visit;
}

/** Causes of a delivery that no handler asked for and that at-least-once allows. */
const DUPLICATE_CAUSES = [
  "the handler had it when the process died",
  "its acknowledgement was not committed when the process died",
  "its retry was asked for and not committed",
] as const;
type DuplicateCause = (typeof DUPLICATE_CAUSES)[number];

/** Totals of a ledger at the end of a run. */
export interface Summary extends Tally {
  readonly deadLettered: number;
  readonly duplicates: Readonly<Record<DuplicateCause, number>>;
  /** Longest time between an acknowledgement that was lost and the kill that took it, in ms. */
  readonly oldestLostAckMs: number;
}

/**
 * Ledger of messages that queues owe to Workers: every message that was sent, every delivery to a handler and its
 * settlement. It checks each delivery against them when it arrives.
 */
export class DeliveryLedger extends Ledger<Message> {
  /**
   * Whether objects may be reset although the process goes on, as on a full disk. Work that was under way in an object
   * may then happen once more, and its deliveries may not count as attempts.
   */
  objectsMayReset = false;
  /** Whether epochs may end by an update of the broker: a delivery that an update cuts off counts as no attempt. */
  updatesReset = false;
  readonly duplicates = Object.fromEntries(DUPLICATE_CAUSES.map((cause) => [cause, 0])) as Record<
    DuplicateCause,
    number
  >;
  readonly #now: () => number;
  /** Messages of the latest batch of each queue that delivers one at a time. */
  readonly #latest = new Map<string, { readonly epoch: number; readonly visits: readonly Visit[] }>();
  #oldestLostAckMs = 0;
  #epoch = 0;
  /** End of each epoch, in ms. */
  readonly #endedMs = new Map<number, number>();

  constructor(now: () => number = Date.now) {
    super();
    this.#now = now;
  }

  /** Number of the epoch that is running. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Begins the next epoch, since the process has died: work that was under way may happen once more. */
  epochEnded(): void {
    this.#endedMs.set(this.#epoch, this.#now());
    this.#epoch += 1;
  }

  /** Adds a message that is about to be sent, and makes its body. */
  intend(intention: Intention): { readonly message: Message; readonly body: string } {
    return this.add({
      ...intention,
      tag: this.messages.length,
      sentAtMs: this.#now(),
      sentInEpoch: this.#epoch,
      outcome: "unknown",
      own: null,
      dead: null,
    });
  }

  /** Enters a batch that has reached its handler. Returns its messages, in order; `null` for an unknown one. */
  delivered({ queue, messages }: BatchReport): (Delivered | null)[] {
    const visits: Visit[] = [];
    this.#proveLatest(queue);
    const found = messages.map(({ attempts, body }) => {
      const message = this.#identify(queue, body);
      if (message === null) return null;
      const visit: Visit = { epoch: this.#epoch, attempts, settlement: null };
      this.#check(message, queue, visit);
      this.change(message, () => {
        if (queue === DEAD_LETTER_QUEUE) message.dead = visit;
        else message.own = visit;
      });
      visits.push(visit);
      return { message, visit };
    });
    if (settingsOf(queue).maxConcurrency === 1) this.#latest.set(queue, { epoch: this.#epoch, visits });
    return found;
  }

  /**
   * Enters a handler's settlement of a delivery. It counts for nothing if the message was delivered again meanwhile:
   * the process that waited for it is gone.
   */
  settled(
    { message, visit }: Delivered,
    settlement: { kind: "ack" } | { kind: "retry"; delayMs: number },
  ): void {
    this.change(message, () => {
      visit.settlement = { ...settlement, atMs: this.#now(), committed: false };
    });
  }

  /** Call when everything has been delivered. */
  summary(): Summary {
    return {
      ...this.tally(),
      deadLettered: this.messages.filter(({ dead }) => dead !== null).length,
      duplicates: { ...this.duplicates },
      oldestLostAckMs: this.#oldestLostAckMs,
    };
  }

  protected override isDone(message: Message): boolean {
    return isSettled(message);
  }

  protected override hasCome({ own, dead }: Message): boolean {
    return own !== null || dead !== null;
  }

  #duplicate(cause: DuplicateCause): void {
    this.duplicates[cause] += 1;
  }

  /** Marks settlements of the latest batch as committed: with one delivery at a time, the next one proves it. */
  #proveLatest(queue: string): void {
    const latest = this.#latest.get(queue);
    // The first delivery of an object that was reset proves nothing.
    if (latest?.epoch !== this.#epoch || this.objectsMayReset) return;
    for (const { settlement } of latest.visits) if (settlement !== null) settlement.committed = true;
  }

  #identify(queue: string, body: string): Message | null {
    const message = this.identify(queue, body);
    if (message === null) return null;
    const { tag } = message;
    if (queue !== message.queue && queue !== DEAD_LETTER_QUEUE) {
      this.violation(`message ${tag} of queue "${message.queue}" was delivered by "${queue}"`);
      return null;
    }
    // A reset fails the sends whose answers still wait, whether or not their commit was made.
    if (message.outcome === "refused" && !this.objectsMayReset)
      this.violation(`message ${tag} was refused and delivered`);
    return message;
  }

  #check(message: Message, queue: string, visit: Visit): void {
    const isDead = queue === DEAD_LETTER_QUEUE;
    const earlier = isDead ? message.dead : message.own;
    const what = `message ${message.tag} of queue "${queue}"`;
    if (visit.attempts > settingsOf(queue).maxRetries + 1) {
      this.violation(`${what} was delivered on attempt ${visit.attempts}`);
    }
    if (earlier !== null) {
      this.#checkAgain(what, earlier, visit);
    } else if (isDead) {
      this.#checkDeath(what, message);
    } else {
      this.#checkDue(what, "its delay", message.sentAtMs + message.delayMs);
    }
    if (!isDead && message.dead !== null) {
      this.violation(`${what} was delivered after it had moved to the dead-letter queue`);
    }
  }

  /** Checks a second delivery: the handler asked for it, or a kill took away the handler's answer. */
  #checkAgain(what: string, earlier: Visit, visit: Visit): void {
    const isCutOff =
      this.objectsMayReset ||
      (this.updatesReset && earlier.epoch !== this.#epoch && earlier.settlement?.committed !== true);
    const isCountedAgain = isCutOff && visit.attempts === earlier.attempts;
    if (visit.attempts <= earlier.attempts && !isCountedAgain) {
      this.violation(`${what} went from attempt ${earlier.attempts} to ${visit.attempts}`);
    }
    const { settlement } = earlier;
    const isSameEpoch = earlier.epoch === this.#epoch && !this.objectsMayReset;
    if (settlement === null) {
      if (isSameEpoch) this.violation(`${what} was delivered while a handler had it`);
      else this.#duplicate("the handler had it when the process died");
      return;
    }
    const mustStand = isSameEpoch || settlement.committed;
    if (settlement.kind === "ack") {
      if (mustStand) {
        this.violation(`${what} was delivered after its acknowledgement`);
        return;
      }
      const beforeMs = (this.#endedMs.get(earlier.epoch) ?? settlement.atMs) - settlement.atMs;
      this.#duplicate("its acknowledgement was not committed when the process died");
      this.#oldestLostAckMs = Math.max(this.#oldestLostAckMs, beforeMs);
      return;
    }
    const dueMs = settlement.atMs + settlement.delayMs;
    if (mustStand) this.#checkDue(what, "its retry delay", dueMs);
    else if (this.#now() < dueMs) this.#duplicate("its retry was asked for and not committed");
  }

  /** Checks that a dead letter is out of attempts: each kill may have cost one that no handler saw. */
  #checkDeath(what: string, { own, sentInEpoch, queue }: Message): void {
    const seen = own?.attempts ?? 0;
    const epochsSince = this.#epoch - (own?.epoch ?? sentInEpoch);
    if (!this.objectsMayReset && seen + epochsSince < settingsOf(queue).maxRetries + 1) {
      this.violation(`${what} died on attempt ${seen}, ${epochsSince} kill(s) later`);
    }
  }

  #checkDue(what: string, delay: string, dueMs: number): void {
    const earlyMs = dueMs - this.#now();
    if (earlyMs > 0) this.violation(`${what} came ${earlyMs} ms before ${delay} was over`);
  }
}
