import { UNIT_MS } from "@sluice/protocol";
import type { Span } from "./api.ts";

/** Converts a duration to ms. Throws a `TypeError` for an invalid text, and for less than 0. */
export function msOf(span: Span): number {
  const [, digits, unit] =
    /^(\d+(?:\.\d+)?)([smhd])$/.exec(typeof span === "number" ? `${span}s` : span) ?? [];
  const ms = Number(digits) * (UNIT_MS[unit ?? ""] ?? Number.NaN);
  if (Number.isFinite(ms)) return Math.round(ms);
  throw new TypeError(
    `${JSON.stringify(span)} is not a duration: give seconds, or a number with s, m, h or d ("12h").`,
  );
}
