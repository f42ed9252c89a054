import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "@sluice/harness/random";
import type { BatchReport, Verdict } from "../../workers/wire.ts";
import { DEAD_LETTER_QUEUE, settingsOf } from "../cluster/topology.ts";
import type { DeliveryLedger } from "../ledger/delivery-ledger.ts";

/** Delays of retries of single messages, in seconds. */
const RETRY_DELAYS_SECONDS = [0, 0, 1, 2] as const;
/** Longest time that a handler takes, in ms; most take none. */
const HANDLER_MS_MAX = 60;

/** Decides what the handlers do: mostly they acknowledge, often they retry, sometimes they throw half way. */
export class Handler {
  readonly #ledger: DeliveryLedger;
  readonly #random: Random;
  /** Set at the end of a run: from then on every message is acknowledged. */
  isDraining = false;

  constructor(ledger: DeliveryLedger, random: Random) {
    this.#ledger = ledger;
    this.#random = random;
  }

  /** Enters a batch into the ledger, lets the handler take its time and enters what it does. */
  async handle(report: BatchReport): Promise<Verdict> {
    const { epoch } = this.#ledger;
    const deliveries = this.#ledger.delivered(report);
    const verdict = this.#decide(report);
    const random = this.#random;
    if (!this.isDraining && random.chance(0.3)) await sleep(random.between(0, HANDLER_MS_MAX));
    // The process that called is gone: it never gets the answer.
    if (epoch !== this.#ledger.epoch) return verdict;
    for (const [position, delivered] of deliveries.entries()) {
      if (delivered !== null) this.#ledger.settled(delivered, settlementOf(verdict, position, report.queue));
    }
    return verdict;
  }

  #decide({ queue, messages }: BatchReport): Verdict {
    const random = this.#random;
    if (this.isDraining || queue === DEAD_LETTER_QUEUE) return { acks: [], retries: [], ends: "returns" };
    const ends = random.pick(["returns", "returns", "returns", "acks all", "retries all", "throws"]);
    const acks: number[] = [];
    const retries: { position: number; delaySeconds: number }[] = [];
    for (let position = 0; position < messages.length; position++) {
      if (random.chance(0.2)) acks.push(position);
      else if (random.chance(0.1))
        retries.push({ position, delaySeconds: random.pick(RETRY_DELAYS_SECONDS) });
    }
    return { acks, retries, ends };
  }
}

/** Settlement of one message of a batch (spec cloudflare-queues 2.4): a call for it wins over the handler's end. */
export function settlementOf(
  { acks, retries, ends }: Verdict,
  position: number,
  queue: string,
): { kind: "ack" } | { kind: "retry"; delayMs: number } {
  const own = retries.find((retry) => retry.position === position);
  if (own !== undefined) return { kind: "retry", delayMs: 1000 * own.delaySeconds };
  if (acks.includes(position) || ends === "returns" || ends === "acks all") return { kind: "ack" };
  return { kind: "retry", delayMs: 1000 * settingsOf(queue).retryDelaySeconds };
}
