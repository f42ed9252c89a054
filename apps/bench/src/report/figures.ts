/** Formats a rate or a count: no decimals, thousands apart. */
export function count(value: number): string {
  return Number.isFinite(value) ? Math.round(value).toLocaleString("en") : "-";
}

/** Formats milliseconds to three digits. A value below the clock's resolution becomes `<` and the resolution. */
export function millis(value: number, resolutionMs = 0): string {
  if (!Number.isFinite(value)) return "-";
  if (value < resolutionMs) return `<${resolutionMs}`;
  return threeDigits(value);
}

/** Formats a value to about three digits, without an exponent. */
export function threeDigits(value: number): string {
  if (!Number.isFinite(value)) return "-";
  if (value === 0) return "0";
  if (Math.abs(value) >= 100) return count(value);
  return value.toFixed(Math.abs(value) >= 10 ? 1 : Math.abs(value) >= 1 ? 2 : 3);
}
