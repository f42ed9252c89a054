import type { MoveStatus, MoveTask } from "@sluice/protocol";
import { firstOf, sumOf } from "./amounts.ts";

/** Statuses of the parts of a task: the first of these that a part has is that of the whole task. */
const STATUSES: readonly MoveStatus[] = ["running", "failed", "cancelled", "completed"];

/** Makes one task of its parts on shards: sums, and the failure of one. `null` for no part. */
export function mergedMove(parts: readonly MoveTask[]): MoveTask | null {
  const [first] = parts;
  if (first === undefined) return null;
  const rates = parts.flatMap(({ ratePerSecond }) => ratePerSecond ?? []);
  const stayed = sumOf(parts, (part) => part.stayed ?? 0);
  return {
    ...first,
    status: STATUSES.find((status) => parts.some((part) => part.status === status)) ?? first.status,
    startedMs: firstOf(parts.map(({ startedMs }) => startedMs)) ?? first.startedMs,
    moved: sumOf(parts, ({ moved }) => moved),
    toMove: sumOf(parts, ({ toMove }) => toMove),
    ...(stayed === 0 ? {} : { stayed }),
    failure: parts.flatMap(({ failure }) => failure ?? [])[0] ?? null,
    // Parts of a small rate are fractions.
    ratePerSecond: rates.length === 0 ? null : Math.round(sumOf(rates, (rate) => rate)),
  };
}
