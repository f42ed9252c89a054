/**
 * Makes a table in Markdown whose columns line up in a terminal too.
 *
 * @param textColumns number of first columns that are aligned to the left; the others hold figures. Default 1.
 */
export function markdownTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  textColumns = 1,
): string {
  const all = [header, ...rows].map((row) => header.map((_, i) => escapeCell(row[i] ?? "")));
  const widths = header.map((_, i) => Math.max(3, ...all.map((row) => row[i]?.length ?? 0)));
  const pad = (cell: string, i: number) =>
    i < textColumns ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0);
  const line = (cells: readonly string[]) => `| ${cells.map(pad).join(" | ")} |`;
  const rule = widths.map((width, i) => (i < textColumns ? "-".repeat(width) : `${"-".repeat(width - 1)}:`));
  const [head = [], ...body] = all;
  return [line(head), `| ${rule.join(" | ")} |`, ...body.map(line)].join("\n");
}

function escapeCell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
