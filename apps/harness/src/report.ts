/** A figure and what it counts. */
export type Line = readonly [what: string, figure: string | number];

/** Prints figures below each other. */
export function table(lines: readonly Line[]): string {
  const width = Math.max(...lines.map(([what]) => what.length));
  return lines.map(([what, value]) => `  ${what.padEnd(width)}  ${figure(value)}`).join("\n");
}

/** A whole number, thousands apart; a text as it is. */
export function figure(value: string | number): string {
  return typeof value === "number" ? Math.floor(value).toLocaleString("en-US") : value;
}
