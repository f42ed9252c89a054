const GAP = "  ";

/** Least width to which a long column is cut, in characters. */
export const CELL_CHARACTERS_MIN = 10;

/** Colour of a state or an error. */
export type Colour = "green" | "yellow" | "red";

/** Look of what is printed. */
export interface Look {
  /** Width of the terminal in characters. Default: there is none, and everything is whole. */
  readonly columns?: number;
  /** Colours a text. Default: leaves it as it is. */
  readonly paint?: (colour: Colour, text: string) => string;
}

/** Cell of a table: a text, or one with a colour. */
export type Cell = string | { readonly text: string; readonly colour: Colour };

/**
 * Formats rows under their titles, one line each, without spaces at the ends of lines. In a terminal that is too narrow,
 * long columns are cut, except for the first, which names the row. Where that is not enough, each row is shown as facts.
 */
export function table(
  titles: readonly string[],
  rows: readonly (readonly Cell[])[],
  { columns, paint }: Look = {},
): string {
  const lines = [titles, ...rows];
  const widths = titles.map((_, i) => Math.max(...lines.map((cells) => textOf(cells[i]).length)));
  const fitted = columns === undefined ? widths : fit(widths, titles, columns);
  const shown = (cell: Cell, width: number) => {
    const text = cut(textOf(cell), width);
    return typeof cell === "string" || paint === undefined ? text : paint(cell.colour, text);
  };
  if (fitted === null) {
    const room = (columns ?? 0) - Math.max(...titles.map(({ length }) => length)) - GAP.length;
    const width = (i: number) => Math.max(i === 0 ? (widths[0] ?? 0) : room, 1);
    const factsOf = (cells: readonly Cell[]) =>
      facts(titles.map((title, i) => [title, shown(cells[i] ?? "", width(i))]));
    return rows.map(factsOf).join("\n\n");
  }
  return lines
    .map((cells) =>
      cells
        .map((cell, i) => {
          const width = fitted[i] ?? 0;
          const padding = i === cells.length - 1 ? 0 : width - Math.min(textOf(cell).length, width);
          return shown(cell, width) + " ".repeat(padding);
        })
        .join(GAP)
        .trimEnd(),
    )
    .join("\n");
}

function textOf(cell: Cell | undefined): string {
  return typeof cell === "object" ? cell.text : (cell ?? "");
}

/** Narrows the widest columns until all fit. @returns the widths; `null` where that is impossible. */
function fit(widths: readonly number[], titles: readonly string[], columns: number): number[] | null {
  const fitted = [...widths];
  const least = titles.map(({ length }, i) =>
    i === 0 ? (widths[0] ?? 0) : Math.max(length, CELL_CHARACTERS_MIN),
  );
  const spare = (i: number) => (fitted[i] ?? 0) - (least[i] ?? 0);
  const room = columns - GAP.length * (titles.length - 1);
  for (let over = fitted.reduce((sum, width) => sum + width, 0) - room; over > 0; over--) {
    const narrowed = fitted.map((width, i) => (spare(i) > 0 ? width : 0));
    const widest = Math.max(...narrowed);
    if (widest === 0) return null;
    fitted[narrowed.indexOf(widest)] = widest - 1;
  }
  return fitted;
}

/** Cuts a text that is longer than a width, with an ellipsis; between words where one ends in its second half. */
function cut(text: string, width: number): string {
  if (text.length <= width) return text;
  // Whole characters: half of one shows as a question mark.
  const begin = [...text.slice(0, width)].slice(0, -1).join("");
  const space = begin.lastIndexOf(" ");
  const isWhole = text[begin.length] === " " || space < width / 2;
  return `${isWhole ? begin : begin.slice(0, space)}…`;
}

/** Formats the facts about one thing, a line each. Those without a value are left out. */
export function facts(
  entries: readonly (readonly [label: string, value: string | null])[],
  { columns }: Look = {},
): string {
  const known = entries.filter((entry): entry is readonly [string, string] => entry[1] !== null);
  const width = Math.max(...known.map(([label]) => label.length));
  const indent = `\n${" ".repeat(width)}${GAP}`;
  const room = columns === undefined ? null : columns - width - GAP.length;
  const shown = (value: string) => (room === null ? value : wrap(value, room)).replaceAll("\n", indent);
  return known.map(([label, value]) => label.padEnd(width) + GAP + shown(value)).join("\n");
}

/** Breaks lines between words so that they fit a width. A longer word keeps its line. */
function wrap(text: string, width: number): string {
  return text.replaceAll(
    new RegExp(`(?=.{${Math.max(width, 0) + 1}})(.{1,${Math.max(width, 1)}}) +`, "gu"),
    "$1\n",
  );
}
