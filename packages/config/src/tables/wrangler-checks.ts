import { type Place, placeOf, type Report } from "../file/report.ts";
import type { Table } from "../file/table.ts";

/* Checks that several of Wrangler's tables share, in Wrangler's words (spec cloudflare-queues 3.3). */

/**
 * Warns of keys that Wrangler does not know, all of a table in one warning, on the line of the first.
 * Returns whether there are any.
 */
export function warnOfUnknownKeys(
  table: Table,
  known: readonly string[],
  place: Place,
  report: Report,
): boolean {
  const unknown = Object.keys(table).filter((key) => !known.includes(key));
  const [first] = unknown;
  if (first === undefined) return false;
  const fields = unknown.map((key) => `"${key}"`).join(",");
  report.warning(placeOf(place, first), `Unexpected fields found in ${place.field} field: ${fields}`);
  return true;
}

/** Whether a key is absent or has a value of the type. `null` is a value of no type. */
export function isOptional(table: Table, key: string, type: "string" | "number" | "boolean"): boolean {
  return !(key in table) || typeof table[key] === type;
}

/** Whether Wrangler takes a value for an object: it accepts an array, and then reports its missing keys. */
export function isTableOrArray(value: unknown): value is Table {
  return typeof value === "object" && value !== null;
}
