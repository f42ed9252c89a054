import { setTimeout as sleep } from "node:timers/promises";
import type { Ledger, Sent, Tally } from "@sluice/harness/ledger";
import type { Random } from "@sluice/harness/random";
import type { QueueFigures } from "../cluster/queue-figures.ts";

/** A broker under load, with the ledger of its clients, over any number of epochs. */
export interface Scenario<Summary extends Tally> {
  readonly random: Random;
  readonly ledger: Ledger<Sent> & { summary(): Summary };
  /** Number of sends or calls that were refused so far. */
  readonly refusedCount: number;
  /** Begins an epoch; resolves when the broker answers requests. */
  start(): Promise<void>;
  /** Begins random load, until `drain` or the end of this epoch. */
  load(): void;
  /** kill -9, in the middle of the load. */
  kill(): Promise<void>;
  /** Process id of the broker in the running epoch. */
  readonly pid: number;
  /** Whether the running epoch has ended by itself. */
  hasEnded(): boolean | Promise<boolean>;
  /** Takes the messages that are left, until every queue is empty. Resolves to `false` if no more come for a while. */
  drain(): Promise<boolean>;
  /** Lists lines of all epochs that no epoch should have printed. */
  unexpectedLines(): string[];
  close(): Promise<void>;
}

/** Opens a scenario. @param persistDir an empty folder. Default: a new one. `close` deletes either. */
export type OpenScenario<Summary extends Tally> = (persistDir?: string) => Promise<Scenario<Summary>>;

/** Result of a run. */
export type Ended<Summary extends Tally> = Summary & {
  /** Whether every queue was empty at the end. */
  readonly isDrained: boolean;
  readonly lines: readonly string[];
};

/** Takes the messages that are left, and sums up the ledger. */
export async function conclude<Summary extends Tally>(
  scenario: Pick<Scenario<Summary>, "drain" | "ledger" | "unexpectedLines">,
): Promise<Ended<Summary>> {
  const isDrained = await scenario.drain();
  return { ...scenario.ledger.summary(), isDrained, lines: scenario.unexpectedLines() };
}

/** Filters lines about damage or loss. */
export function damageLines(lines: readonly string[]): string[] {
  return lines.filter((line) => /damage|lost|missing|older than/.test(line));
}

/** Time without a delivery after which a run takes the rest for lost, in ms. */
const STALLED_MS = 30_000;
const LOOK_AGAIN_MS = 20;

/**
 * Waits until every queue is empty, also of hidden and delayed messages, and nothing is owed.
 *
 * @param came number of deliveries so far, if messages can come without a change of those that are left. Default: 0.
 * @returns whether that was reached; `false` if nothing changed for `STALLED_MS`.
 */
export async function drained(
  broker: { queues(): Promise<readonly QueueFigures[]> },
  ledger: { readonly owed: number },
  came: () => number = () => 0,
): Promise<boolean> {
  let [progress, sinceMs] = ["", Date.now()];
  for (;;) {
    const queues = await broker.queues();
    const left = queues.reduce(
      (sum, { messages: { ready, delayed, leased } }) => sum + ready + delayed + leased,
      0,
    );
    if (left === 0 && ledger.owed === 0) return true;
    const now = `${left + ledger.owed} ${came()}`;
    if (now !== progress) [progress, sinceMs] = [now, Date.now()];
    else if (Date.now() - sinceMs > STALLED_MS) return false;
    await sleep(LOOK_AGAIN_MS);
  }
}

/** Longest time that `stored` waits, in ms: a busy machine stores slowly. */
const STORED_MS_MAX = 60_000;

/** Waits until `count` more messages were acknowledged: a load is measured by stored messages instead of time. */
export async function stored({ messages }: Pick<Ledger<Sent>, "messages">, count: number): Promise<void> {
  const acknowledged = () => messages.filter(({ outcome }) => outcome === "acknowledged").length;
  const before = acknowledged();
  await until(() => acknowledged() - before >= count, STORED_MS_MAX);
}

/** Waits until a condition holds. Resolves to whether it did within `ms`. */
export async function until(holds: () => boolean, ms: number): Promise<boolean> {
  const endMs = Date.now() + ms;
  while (!holds()) {
    if (Date.now() > endMs) return false;
    await sleep(LOOK_AGAIN_MS);
  }
  return true;
}
