import {
  type ConsumerHealth,
  type Fault,
  type QueueDamage,
  type QueueDescription,
  type QueueRates,
  sumOfUsage,
} from "@sluice/protocol";
import { largestOf, oldestOf, sumOf, withoutRepeats } from "./amounts.ts";
import { mergedMove } from "./moves.ts";

/** Description of a shard, or why there is none. */
export type ShardDescription = QueueDescription | { readonly failure: unknown };

/**
 * Makes the description of a queue of those of its shards, one for each. A shard that does not answer counts as damage.
 *
 * @param nowMs time by the caller's clock, for the damage of a shard that does not answer.
 * @throws what the first shard has thrown, where none answers.
 */
export function mergedDescription(
  queue: string,
  shards: readonly ShardDescription[],
  nowMs: number,
): QueueDescription {
  const known = shards.flatMap((one) => ("failure" in one ? [] : [one]));
  const [first] = known;
  if (first === undefined) throw (shards[0] as { readonly failure: unknown }).failure;
  const rates = known.flatMap((one) => one.rates ?? []);
  const usage = known.flatMap((one) => one.usage ?? []);
  const faults = mergedFaults(known.map((one) => one.faults ?? []));
  const finishedMax = largestOf(known.map((one) => one.finishedMax ?? null));
  const alerts = withoutRepeats(known.flatMap((one) => one.alerts ?? []));
  return {
    queue,
    nowMs: Math.max(...known.map((one) => one.nowMs)),
    // Counts of all begin when the last one has begun to count.
    awakeSinceMs: Math.max(...known.map((one) => one.awakeSinceMs)),
    ready: sumOf(known, ({ ready }) => ready),
    delayed: sumOf(known, ({ delayed }) => delayed),
    leased: sumOf(known, ({ leased }) => leased),
    backlogBytes: sumOf(known, ({ backlogBytes }) => backlogBytes),
    oldestMessageTimestampMs: oldestOf(known),
    rowsWritten: sumOf(known, ({ rowsWritten }) => rowsWritten),
    rowsRead: sumOf(known, ({ rowsRead }) => rowsRead),
    damage: shards
      .flatMap((one, shard) => damageOf(one, shard, nowMs))
      .sort((a, b) => a.foundAtMs - b.foundAtMs),
    consumer: mergedHealth(known.map(({ consumer }) => consumer)),
    lastMove: mergedMove(latestTask(known.flatMap(({ lastMove }) => lastMove ?? []))),
    ...(rates.length === 0 ? {} : { rates: mergedRates(rates) }),
    ...(usage.length === 0 ? {} : { usage: sumOfUsage(usage) }),
    // A setting of the queue. A shard that does not have it yet answers with another.
    ...(finishedMax === null ? {} : { finishedMax }),
    ...(faults.length === 0 ? {} : { faults }),
    ...(alerts.length === 0 ? {} : { alerts }),
  };
}

function damageOf(one: ShardDescription, shard: number, nowMs: number): QueueDamage[] {
  if ("failure" in one) {
    const text = `shard ${shard} does not answer, and its messages are counted nowhere: ${one.failure}`;
    return [{ kind: "unreadable", foundAtMs: nowMs, messagesLost: null, text }];
  }
  return one.damage.map((damage) => ({ ...damage, text: `in shard ${shard}: ${damage.text}` }));
}

/** Parts of the task that began last. */
function latestTask<Task extends { readonly taskId: string; readonly startedMs: number }>(
  tasks: readonly Task[],
): Task[] {
  const [last] = tasks.toSorted((a, b) => b.startedMs - a.startedMs);
  return tasks.filter(({ taskId }) => taskId === last?.taskId);
}

/**
 * Merges the health of deliveries. A consumer that is absent for one shard counts as absent. Failures in a row are
 * those of the shard with the latest delivery: if that went well, there are none.
 */
export function mergedHealth(parts: readonly (ConsumerHealth | null)[]): ConsumerHealth | null {
  const known = parts.filter((part) => part !== null);
  if (known.length === 0) return null;
  const endedMs = ({ lastDelivery }: ConsumerHealth) => lastDelivery?.endedMs ?? 0;
  const latest = known.reduce((a, b) => (endedMs(b) > endedMs(a) ? b : a));
  const next = known.flatMap((part) => part.next ?? []);
  return {
    isPresent: known.every(({ isPresent }) => isPresent),
    inFlight: sumOf(known, ({ inFlight }) => inFlight),
    consecutiveFailures: latest.consecutiveFailures,
    lastDelivery: latest.lastDelivery,
    next: next.toSorted((a, b) => a.atMs - b.atMs)[0] ?? null,
  };
}

export function mergedRates(rates: readonly QueueRates[]): QueueRates {
  return {
    in: sumOf(rates, (part) => part.in),
    out: sumOf(rates, (part) => part.out),
    dead: sumOf(rates, (part) => part.dead),
  };
}

/** Merges the faults of shards, which each counts for itself: of a kind, the most deliveries that a shard has left. */
export function mergedFaults(parts: readonly (readonly Fault[])[]): Fault[] {
  const faults = new Map<string, Fault>();
  for (const fault of parts.flat()) {
    const times = largestOf([fault.times, faults.get(fault.kind)?.times]) ?? 0;
    faults.set(fault.kind, { ...fault, times });
  }
  return [...faults.values()];
}
