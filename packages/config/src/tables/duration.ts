import { UNIT_MS } from "@sluice/protocol";

/** Reads a duration such as `90s` or `1h`, in seconds; NaN for any other text. */
export function durationSeconds(text: string): number {
  const [, number = "", unit = ""] = /^(\d{1,7})([smhd])$/.exec(text) ?? [];
  return number === "" ? Number.NaN : (Number(number) * (UNIT_MS[unit] ?? Number.NaN)) / 1_000;
}
