import { advance, type Queue } from "@sluice/engine";
import type { QueueDamage, QueueWhy, Why } from "@sluice/protocol";
import { plural, pluralIs } from "@sluice/protocol/words";
import type { Conditions } from "./conditions.ts";
import { Reasons } from "./reasons.ts";

/** Explains why a queue as a whole delivers nothing more now, and adds its damage. */
export function whyOfQueue(
  queue: Queue,
  conditions: Conditions,
  damage: readonly QueueDamage[],
  idAt: ConstructorParameters<typeof Reasons>[2],
): QueueWhy {
  advance(queue, conditions.nowMs);
  const also = damage.map(
    ({ text }): Why => ({ reason: "damaged", text: `Data is damaged: ${text}.`, untilMs: null, by: null }),
  );
  const { readyCount: ready, delayedCount: delayed, leasedCount: leased } = queue;
  return { ...reasonOf(queue, conditions, idAt), also, messages: { ready, delayed, leased } };
}

function reasonOf(queue: Queue, conditions: Conditions, idAt: ConstructorParameters<typeof Reasons>[2]): Why {
  const { readyCount, delayedCount, leasedCount } = queue;
  if (readyCount > 0) return new Reasons(queue, conditions, idAt).ofReady;
  const due = queue.delayed.peek();
  if (due !== undefined) {
    const text = `${pluralIs(delayedCount, "message")} delayed, ${delayedCount === 1 ? "" : "the first of them "}until ${new Date(due.atMs).toISOString()}.`;
    return { reason: "delayed", text, untilMs: due.atMs, by: null };
  }
  const lease = queue.leased.peek();
  if (lease !== undefined) {
    const text =
      leasedCount === 1
        ? "The only message is leased: a consumer or a client works on it."
        : `All ${plural(leasedCount, "message")} are leased: consumers or clients work on them.`;
    return { reason: "leased", text, untilMs: lease.atMs, by: null };
  }
  return { reason: "empty", text: "There is no message in the queue.", untilMs: null, by: null };
}
