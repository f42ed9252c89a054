/** Line of a report: a figure with its name. */
export type Line = readonly [what: string, figure: string | number];

/** Makes a text of lines below each other. */
export function table(lines: readonly Line[]): string {
  const width = Math.max(...lines.map(([what]) => what.length));
  return lines.map(([what, value]) => `  ${what.padEnd(width)}  ${figure(value)}`).join("\n");
}

/** Formats a number without decimals, thousands apart; a text stays as it is. */
export function figure(value: string | number): string {
  return typeof value === "number" ? Math.floor(value).toLocaleString("en-US") : value;
}
