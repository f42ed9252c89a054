import { ERROR_GROUPS_MAX, type ErrorCounts, type ErrorGroup } from "@sluice/protocol";
import { sumOf } from "./amounts.ts";

/** Adds the counts of last errors. Those that a shard counts as others stay others. */
export function mergedErrors(parts: readonly ErrorCounts[]): ErrorCounts {
  const groups = new Map<string, ErrorGroup>();
  for (const group of parts.flatMap((part) => part.groups)) {
    const key = group.text ?? group.error;
    const known = groups.get(key);
    groups.set(key, { ...(known ?? group), count: (known?.count ?? 0) + group.count });
  }
  const sorted = [...groups.values()].sort((a, b) => b.count - a.count);
  return {
    groups: sorted.slice(0, ERROR_GROUPS_MAX),
    others:
      sumOf(parts, ({ others }) => others) + sumOf(sorted.slice(ERROR_GROUPS_MAX), ({ count }) => count),
    none: sumOf(parts, ({ none }) => none),
  };
}
