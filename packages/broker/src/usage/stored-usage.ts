import type { QueueUsage } from "@sluice/protocol";
import { COUNT_NAMES, type UsageCounts } from "./month-usage.ts";

/** Makes the stored form: month, begin, counts. A contract, since stored data depends on it: append, never reorder. */
export function storedUsage(usage: QueueUsage): readonly [string, ...number[]] {
  return [usage.month, usage.sinceMs, ...COUNT_NAMES.map((name) => Math.round(usage[name]))];
}

/** Reads stored usage of any release, with 0 for missing counts; `null` for anything else. */
export function usageFrom(stored: unknown): QueueUsage | null {
  if (!Array.isArray(stored)) return null;
  const [month, sinceMs, ...counts] = stored as unknown[];
  if (typeof month !== "string" || typeof sinceMs !== "number") return null;
  const of = (i: number) => (typeof counts[i] === "number" ? counts[i] : 0);
  const entries = COUNT_NAMES.map((name, i) => [name, of(i)] as const);
  return { month, sinceMs, ...(Object.fromEntries(entries) as unknown as UsageCounts) };
}
