const GAP = "  ";

/** Rows under their titles as plain text, one line each, without spaces at the ends of lines. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [titles, ...rows];
  const widths = titles.map((_, i) => Math.max(...lines.map((cells) => cells[i]?.length ?? 0)));
  return lines
    .map((cells) =>
      cells
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join(GAP)
        .trimEnd(),
    )
    .join("\n");
}

/** Formats the facts about one thing, a line each. Those without a value are left out. */
export function facts(entries: readonly (readonly [label: string, value: string | null])[]): string {
  const known = entries.filter((entry): entry is readonly [string, string] => entry[1] !== null);
  const width = Math.max(...known.map(([label]) => label.length));
  const indent = `\n${" ".repeat(width)}${GAP}`;
  return known.map(([label, value]) => label.padEnd(width) + GAP + value.replaceAll("\n", indent)).join("\n");
}
