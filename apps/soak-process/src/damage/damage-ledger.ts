import { tagOf } from "@sluice/harness/body";
import { Ledger, type Sent } from "@sluice/harness/ledger";
import type { Random } from "@sluice/harness/random";

/** A message of a state that is damaged, or a probe that is sent after the damage. */
export interface Kept extends Sent {
  /** Whether it was settled for good before the damage. */
  isSettled: boolean;
  /** Whether it has come out of its queue after the damage. */
  hasCome: boolean;
}

/** Messages that came out of a queue together. */
interface DeliveredBatch {
  readonly queue: string;
  readonly messages: readonly { readonly body: string }[];
}

/** Ledger of the deliveries after the damage, against what was owed before it. */
export class DamageLedger extends Ledger<Kept> {
  /** @param kept messages of the state that was damaged. */
  constructor(kept: readonly Kept[] = []) {
    super();
    for (const message of kept) this.add({ ...message });
  }

  /** Adds a message that is about to be sent, and makes its body. */
  intend(given: Pick<Kept, "queue" | "bytes">): { readonly message: Kept; readonly body: string } {
    const message = { ...given, tag: this.messages.length, outcome: "unknown" } as const;
    return this.add({ ...message, isSettled: false, hasCome: false });
  }

  /** Adds a message of a random size that counts as acknowledged: a healthy queue takes it. */
  stored(queue: string, random: Random): { readonly message: Kept; readonly body: string } {
    const bytes = random.chance(0.05) ? random.between(1_000, 20_000) : random.between(1, 400);
    const stored = this.intend({ queue, bytes });
    this.acknowledged(stored.message);
    return stored;
  }

  /** Finds the message of a body. Throws if the body was never sent. */
  sentAs(body: string): Kept {
    const message = this.messages[tagOf(body) ?? -1];
    if (message === undefined) throw new Error(`delivered a body that was never sent: ${body.slice(0, 40)}`);
    return message;
  }

  delivered({ queue, messages }: DeliveredBatch): void {
    for (const { body } of messages) {
      const message = this.identify(queue, body);
      if (message !== null && message.queue !== queue) {
        this.violation(`queue "${queue}" delivered message ${message.tag} of queue "${message.queue}"`);
      } else if (message !== null) {
        this.change(message, () => {
          message.hasCome = true;
        });
      }
    }
  }

  /** Number of messages that have come. */
  get cameCount(): number {
    return this.messages.filter(({ hasCome }) => hasCome).length;
  }

  /** Number of messages of a queue that were owed and have not come. */
  missing(queue: string): number {
    return this.#count(queue, (message) => this.isOwed(message));
  }

  /** Number of messages of a queue that had been settled for good and came again. */
  again(queue: string): number {
    return this.#count(queue, ({ isSettled, hasCome }) => isSettled && hasCome);
  }

  /** Number of messages of a queue that were owed when the damage was done. */
  owedBefore(queue: string): number {
    return this.#count(queue, ({ outcome, isSettled }) => outcome === "acknowledged" && !isSettled);
  }

  protected override isDone({ isSettled, hasCome }: Kept): boolean {
    return isSettled || hasCome;
  }

  protected override hasCome({ hasCome }: Kept): boolean {
    return hasCome;
  }

  #count(queue: string, counts: (message: Kept) => boolean): number {
    return this.messages.filter((message) => message.queue === queue && counts(message)).length;
  }
}
