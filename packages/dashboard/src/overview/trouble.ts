import { isFailing } from "@sluice/protocol/words";
import type { QueueView } from "../api/call.ts";

/** State of a queue on the first page, the worst first. */
export const STATES = ["failing", "dead letters", "ageing", "paused", "busy", "idle"] as const;
export type QueueState = (typeof STATES)[number];

/** States that an operator has to look at. */
export const TROUBLES: readonly QueueState[] = ["failing", "dead letters", "ageing", "paused"];

/** Filter of the table: queues of a state, all in trouble, or all. */
export type StateFilter = QueueState | "trouble" | "all";

/** Age in ms from which on a backlog is taken to grow old. */
export const AGEING_MS = 60_000;

/** Finds the worst state that a queue is in. */
export function troubleOf(queue: QueueView): QueueState {
  const { messages, health, damage, settings, consumer, deadLettersOf, oldestMessageAt, now } = queue;
  const { ready, delayed, leased } = messages;
  const isUnbound = consumer?.type === "worker" && health === null;
  const isInTrouble = health !== null && (!health.present || isFailing(health.consecutiveFailures, messages));
  if (damage.length > 0 || isUnbound || isInTrouble) return "failing";
  const isDeadLetterQueue = deadLettersOf.queues.length + deadLettersOf.subscriptions.length > 0;
  if (isDeadLetterQueue && consumer === null && ready + delayed > 0) return "dead letters";
  if (settings.deliveryPaused) return "paused";
  const ageMs = oldestMessageAt === null ? 0 : Date.parse(now) - Date.parse(oldestMessageAt);
  if (ready > 0 && ageMs >= AGEING_MS) return "ageing";
  return ready + delayed + leased + rateOf(queue) > 0 ? "busy" : "idle";
}

/** Messages that wait in all queues, dead letters among them, and queues by state. */
export interface Totals {
  readonly waiting: number;
  readonly deadLetters: number;
  readonly queues: Readonly<Record<QueueState, number>>;
}

export function totalsOf(queues: readonly QueueView[]): Totals {
  const totals = { waiting: 0, deadLetters: 0, queues: { ...NONE } };
  for (const queue of queues) {
    const state = troubleOf(queue);
    totals.queues[state]++;
    totals.waiting += waitingIn(queue);
    if (state === "dead letters") totals.deadLetters += waitingIn(queue);
  }
  return totals;
}

const NONE = Object.fromEntries(STATES.map((state) => [state, 0])) as Record<QueueState, number>;

/** Names of queues, the worst first, and of equal ones those with the most messages. */
export function byTrouble(queues: readonly QueueView[]): string[] {
  const ranked = queues.map((queue) => ({ queue, rank: STATES.indexOf(troubleOf(queue)) }));
  ranked.sort(
    (a, b) =>
      a.rank - b.rank ||
      heldIn(b.queue) - heldIn(a.queue) ||
      rateOf(b.queue) - rateOf(a.queue) ||
      a.queue.name.localeCompare(b.queue.name),
  );
  return ranked.map(({ queue }) => queue.name);
}

/** Says how many queues are left out, and how many of them are idle: `and 476 others, all idle`. */
export function othersText(others: readonly QueueView[]): string {
  const idle = others.filter((queue) => troubleOf(queue) === "idle").length;
  const count = others.length.toLocaleString("en");
  const state =
    idle === others.length ? ", all idle" : idle === 0 ? "" : `, ${idle.toLocaleString("en")} of them idle`;
  return `and ${count} other${others.length === 1 ? "" : "s"}${state}`;
}

function waitingIn({ messages: { ready, delayed } }: QueueView): number {
  return ready + delayed;
}

function heldIn({ messages: { ready, delayed, leased } }: QueueView): number {
  return ready + delayed + leased;
}

function rateOf({ rates }: QueueView): number {
  return rates === null ? 0 : rates.in + rates.out;
}
