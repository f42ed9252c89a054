import { setTimeout as sleep } from "node:timers/promises";
import type { Ledger, Sent, Tally } from "@sluice/harness/ledger";
import type { Random } from "@sluice/harness/random";
import type { QueueFigures } from "../cluster/queue-figures.ts";

/** A broker under load, with the ledger of its clients, over any number of epochs. */
export interface Scenario<Summary extends Tally> {
  readonly random: Random;
  readonly ledger: Ledger<Sent> & { summary(): Summary };
  /** Sends or calls that were refused so far. */
  readonly refusedCount: number;
  /** Begins an epoch; resolves when it answers. */
  start(): Promise<void>;
  /** Uses it at random until `drain` or the end of this epoch. */
  load(): void;
  /** kill -9, in the middle of the load. */
  kill(): Promise<void>;
  /** The process of the broker in the epoch that runs. */
  readonly pid: number;
  /** Whether the epoch that runs has ended by itself. */
  hasEnded(): boolean | Promise<boolean>;
  /** Takes what is left, until every queue is empty. Answers `false` when nothing more came for a while. */
  drain(): Promise<boolean>;
  /** Lists the lines that were printed, over all epochs, and that no epoch should have printed. */
  unexpectedLines(): string[];
  close(): Promise<void>;
}

/** @param persistDir an empty folder; by default a new one. `close` deletes either. */
export type OpenScenario<Summary extends Tally> = (persistDir?: string) => Promise<Scenario<Summary>>;

/** Result of a run. */
export type Ended<Summary extends Tally> = Summary & {
  /** Whether every queue was empty at the end. */
  readonly isDrained: boolean;
  readonly lines: readonly string[];
};

/** Takes what is left, and closes the ledger. */
export async function conclude<Summary extends Tally>(
  scenario: Pick<Scenario<Summary>, "drain" | "ledger" | "unexpectedLines">,
): Promise<Ended<Summary>> {
  const isDrained = await scenario.drain();
  return { ...scenario.ledger.summary(), isDrained, lines: scenario.unexpectedLines() };
}

/** Lines that speak of damage or loss. */
export function damageLines(lines: readonly string[]): string[] {
  return lines.filter((line) => /damage|lost|missing|older than/.test(line));
}

/** Longest that a run waits without anything being delivered before it takes the rest for lost, in ms. */
const STALLED_MS = 30_000;
const LOOK_AGAIN_MS = 20;

/**
 * Waits until every queue is empty, without hidden and delayed messages too, and nothing is owed.
 *
 * @param came how many messages have come so far, where more may come than there were.
 * @returns whether that was reached; `false` when nothing more came for a while.
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

/** Longest that a busy machine takes to store what a run asks for, in ms. */
const STORED_MS_MAX = 60_000;

/** Waits until so many more messages were acknowledged: a load is measured by what is stored, not by time. */
export async function stored({ messages }: Pick<Ledger<Sent>, "messages">, count: number): Promise<void> {
  const acknowledged = () => messages.filter(({ outcome }) => outcome === "acknowledged").length;
  const before = acknowledged();
  await until(() => acknowledged() - before >= count, STORED_MS_MAX);
}

/** Waits until a condition holds. Answers whether it did within `ms`. */
export async function until(holds: () => boolean, ms: number): Promise<boolean> {
  const endMs = Date.now() + ms;
  while (!holds()) {
    if (Date.now() > endMs) return false;
    await sleep(LOOK_AGAIN_MS);
  }
  return true;
}
