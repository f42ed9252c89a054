import type { Span } from "./api.ts";

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time in ms. @throws TypeError for a text that is none, and for less than 0. */
export function msOf(span: Span): number {
  const [, digits, unit] =
    /^(\d+(?:\.\d+)?)([smhd])$/.exec(typeof span === "number" ? `${span}s` : span) ?? [];
  const ms = Number(digits) * (UNIT_MS[unit ?? ""] ?? Number.NaN);
  if (Number.isFinite(ms)) return Math.round(ms);
  throw new TypeError(
    `${JSON.stringify(span)} is no time: give seconds, or a number with s, m, h or d ("12h").`,
  );
}
