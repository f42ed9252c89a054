import type { BatchReport } from "../../workers/wire.ts";
import { DEAD_LETTER_QUEUE, settingsOf } from "../cluster/topology.ts";
import { bodyOf, tagOf } from "../load/body.ts";
import { Findings } from "./findings.ts";
import { isOpen, type Message, type SendOutcome, type Visit } from "./message.ts";

/** What the ledger needs to know about a message before it is sent. */
export interface Intention {
  readonly queue: string;
  readonly bytes: number;
  readonly delayMs: number;
}

/** A delivery of one message. */
export interface Delivered {
  readonly message: Message;
  readonly visit: Visit;
}

/**
 * The books: every message that was sent, what its producer was told, every delivery and how it was settled. Whatever
 * the broker does is checked against them when it happens.
 */
export class Ledger {
  readonly findings = new Findings();
  /**
   * Set while objects may be reset without the process ending, which happens when a disk is full: what was under way in
   * one may happen once more, and its deliveries need not be counted.
   */
  objectsMayReset = false;
  /** What refused sends were told, each text once. */
  readonly refusals = new Set<string>();
  readonly #now: () => number;
  readonly #messages: Message[] = [];
  /** Messages of the latest batch of each queue that delivers one at a time. */
  readonly #latest = new Map<string, { readonly life: number; readonly visits: readonly Visit[] }>();
  #open = 0;
  #life = 0;
  #endedMs = new Map<number, number>();

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Number of the life that is running. */
  get life(): number {
    return this.#life;
  }

  /** Messages that were acknowledged to their producer and are not settled yet. */
  get openCount(): number {
    return this.#open;
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** The process has died, or its objects were reset: what was under way in it may happen once more. */
  lifeEnded(): void {
    this.#endedMs.set(this.#life, this.#now());
    this.#life += 1;
  }

  /** A message that is about to be sent, and its body. */
  intend(intention: Intention): { readonly message: Message; readonly body: string } {
    const message: Message = {
      ...intention,
      tag: this.#messages.length,
      sentAtMs: this.#now(),
      sentInLife: this.#life,
      outcome: "unknown",
      own: null,
      dead: null,
    };
    this.#messages.push(message);
    return { message, body: bodyOf(message.tag, message.bytes) };
  }

  answered(message: Message, outcome: Exclude<SendOutcome, "unknown">): void {
    this.#change(message, () => {
      message.outcome = outcome;
    });
  }

  /** A batch has reached its handler. Answers with its messages, in order; `null` for what is none of ours. */
  delivered({ queue, messages }: BatchReport): (Delivered | null)[] {
    const visits: Visit[] = [];
    this.#proveLatest(queue);
    const found = messages.map(({ attempts, body }) => {
      const message = this.#identify(queue, body);
      if (message === null) return null;
      const visit: Visit = { life: this.#life, attempts, settlement: null };
      this.#check(message, queue, visit);
      this.#change(message, () => {
        if (queue === DEAD_LETTER_QUEUE) message.dead = visit;
        else message.own = visit;
      });
      visits.push(visit);
      return { message, visit };
    });
    if (settingsOf(queue).maxConcurrency === 1) this.#latest.set(queue, { life: this.#life, visits });
    return found;
  }

  /**
   * The handler answers with what it does with a message. The message is settled by it only if it was not delivered again
   * meanwhile: who was asking for this answer is gone then.
   */
  settled(
    { message, visit }: Delivered,
    settlement: { kind: "ack" } | { kind: "retry"; delayMs: number },
  ): void {
    this.#change(message, () => {
      visit.settlement = { ...settlement, atMs: this.#now(), committed: false };
    });
  }

  /** Changes a message and keeps the number of open ones right. */
  #change(message: Message, change: () => void): void {
    if (isOpen(message)) this.#open -= 1;
    change();
    if (isOpen(message)) this.#open += 1;
  }

  /** Where one delivery runs at a time, the next one proves that the settlement of the one before was committed. */
  #proveLatest(queue: string): void {
    const latest = this.#latest.get(queue);
    // An object that was reset begins with a delivery that proves nothing.
    if (latest?.life !== this.#life || this.objectsMayReset) return;
    for (const { settlement } of latest.visits) if (settlement !== null) settlement.committed = true;
  }

  #identify(queue: string, body: string): Message | null {
    const tag = tagOf(body);
    const message = tag === null ? undefined : this.#messages[tag];
    if (message === undefined || bodyOf(message.tag, message.bytes) !== body) {
      this.findings.violation(`queue "${queue}" delivered a body that nobody sent: ${body.slice(0, 40)}`);
      return null;
    }
    if (queue !== message.queue && queue !== DEAD_LETTER_QUEUE) {
      this.findings.violation(`message ${tag} of queue "${message.queue}" was delivered by "${queue}"`);
      return null;
    }
    // A reset fails the sends whose answers still wait, whether or not their commit was made.
    if (message.outcome === "refused" && !this.objectsMayReset)
      this.findings.violation(`message ${tag} was refused and delivered`);
    return message;
  }

  #check(message: Message, queue: string, visit: Visit): void {
    const isDead = queue === DEAD_LETTER_QUEUE;
    const earlier = isDead ? message.dead : message.own;
    const what = `message ${message.tag} of queue "${queue}"`;
    if (visit.attempts > settingsOf(queue).maxRetries + 1) {
      this.findings.violation(`${what} was delivered on attempt ${visit.attempts}`);
    }
    if (earlier !== null) {
      this.#checkAgain(what, earlier, visit);
    } else if (isDead) {
      this.#checkDeath(what, message);
    } else {
      this.#checkDue(what, "its delay", message.sentAtMs + message.delayMs);
    }
    if (!isDead && message.dead !== null) {
      this.findings.violation(`${what} was delivered after it had moved to the dead-letter queue`);
    }
  }

  /** A second delivery: asked for by the handler, or because a kill took away what the handler had answered. */
  #checkAgain(what: string, earlier: Visit, visit: Visit): void {
    const isCountedAgain = this.objectsMayReset && visit.attempts === earlier.attempts;
    if (visit.attempts <= earlier.attempts && !isCountedAgain) {
      this.findings.violation(`${what} went from attempt ${earlier.attempts} to ${visit.attempts}`);
    }
    const { settlement } = earlier;
    const isSameLife = earlier.life === this.#life && !this.objectsMayReset;
    if (settlement === null) {
      if (isSameLife) this.findings.violation(`${what} was delivered while a handler had it`);
      else this.findings.duplicate("the handler had it when the process died");
      return;
    }
    const mustStand = isSameLife || settlement.committed;
    if (settlement.kind === "ack") {
      if (mustStand) this.findings.violation(`${what} was delivered after its acknowledgement`);
      const beforeMs = (this.#endedMs.get(earlier.life) ?? settlement.atMs) - settlement.atMs;
      this.findings.lateAck(beforeMs);
      return;
    }
    const dueMs = settlement.atMs + settlement.delayMs;
    if (mustStand) this.#checkDue(what, "its retry delay", dueMs);
    else if (this.#now() < dueMs) this.findings.duplicate("its retry was asked for and not committed");
  }

  /** Dead means out of attempts: of those that no handler saw, each was under way when the process died. */
  #checkDeath(what: string, { own, sentInLife, queue }: Message): void {
    const seen = own?.attempts ?? 0;
    const livesSince = this.#life - (own?.life ?? sentInLife);
    if (!this.objectsMayReset && seen + livesSince < settingsOf(queue).maxRetries + 1) {
      this.findings.violation(`${what} died on attempt ${seen}, ${livesSince} kill(s) later`);
    }
  }

  #checkDue(what: string, delay: string, dueMs: number): void {
    const earlyMs = dueMs - this.#now();
    if (earlyMs > 0) this.findings.violation(`${what} came ${earlyMs} ms before ${delay} was over`);
  }
}
