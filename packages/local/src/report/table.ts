const GAP = "  ";

/** Least width to which a long column is cut, in characters. */
export const CELL_CHARACTERS_MIN = 10;

/** Colour of a state or an error. */
export type Colour = "green" | "yellow" | "red";

/** Width and colours of the output. */
export interface Look {
  /** Width of the terminal in characters. Default: no terminal, and nothing is cut. */
  readonly columns?: number;
  /** Colours a text. Default: leaves it as it is. */
  readonly paint?: (colour: Colour, text: string) => string;
}

/** Cell of a table: a text, or one with a colour. */
export type Cell = string | { readonly text: string; readonly colour: Colour };

/**
 * Formats rows under their titles, one line each, without trailing spaces. In a terminal that is too narrow, long
 * columns are cut, except the first, which names the row. If that is not enough, the last columns get lines of their
 * own below the row.
 */
export function table(
  titles: readonly string[],
  rows: readonly (readonly Cell[])[],
  { columns, paint }: Look = {},
): string {
  const lines = [titles, ...rows];
  const widths = titles.map((_, i) => Math.max(...lines.map((cells) => textOf(cells[i]).length)));
  const fitted = columns === undefined ? widths : fit(widths, titles, columns);
  const below = titles.slice(fitted.length);
  const indent = GAP.length + Math.max(0, ...below.map(({ length }) => length)) + GAP.length;
  const shown = (cell: Cell, width: number) => {
    const text = cut(textOf(cell), width);
    return typeof cell === "string" || paint === undefined ? text : paint(cell.colour, text);
  };
  const lineOf = (cells: readonly Cell[]) =>
    fitted
      .map((width, i) => {
        const cell = cells[i] ?? "";
        const padding = i === fitted.length - 1 ? 0 : width - Math.min(textOf(cell).length, width);
        return shown(cell, width) + " ".repeat(padding);
      })
      .join(GAP)
      .trimEnd();
  const linesBelow = (cells: readonly Cell[]) =>
    below.map((title, i) => {
      const cell = shown(
        cells[fitted.length + i] ?? "",
        Math.max((columns ?? 0) - indent, CELL_CHARACTERS_MIN),
      );
      return `${GAP}${title}`.padEnd(indent) + cell;
    });
  return [lineOf(titles), ...rows.flatMap((cells) => [lineOf(cells), ...linesBelow(cells)])].join("\n");
}

function textOf(cell: Cell | undefined): string {
  return typeof cell === "object" ? cell.text : (cell ?? "");
}

/** Narrows the widest columns until all fit. @returns the widths of all columns, or of the first ones that fit. */
function fit(widths: readonly number[], titles: readonly string[], columns: number): readonly number[] {
  if (widths.length <= 1) return widths;
  const fitted = [...widths];
  const least = titles.map(({ length }, i) =>
    i === 0 ? (widths[0] ?? 0) : Math.max(length, CELL_CHARACTERS_MIN),
  );
  const room = columns - GAP.length * (widths.length - 1);
  for (let over = fitted.reduce((sum, width) => sum + width, 0) - room; over > 0; over--) {
    const narrowed = fitted.map((width, i) => (width > (least[i] ?? 0) ? width : 0));
    const widest = Math.max(...narrowed);
    if (widest === 0) return fit(widths.slice(0, -1), titles, columns);
    fitted[narrowed.indexOf(widest)] = widest - 1;
  }
  return fitted;
}

/** Cuts a text that is longer than a width, with an ellipsis; between words where a word ends in its second half. */
function cut(text: string, width: number): string {
  if (text.length <= width) return text;
  // By code points: half of a surrogate pair shows as a question mark.
  const begin = [...text.slice(0, width)].slice(0, -1).join("");
  const space = begin.lastIndexOf(" ");
  const isWhole = text[begin.length] === " " || space < width / 2;
  return `${isWhole ? begin : begin.slice(0, space)}…`;
}

/** Formats facts about one thing, a line each. Entries without a value are left out. */
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

/** Breaks lines between words so that they fit a width. A word longer than that stays whole. */
function wrap(text: string, width: number): string {
  return text.replaceAll(
    new RegExp(`(?=.{${Math.max(width, 0) + 1}})(.{1,${Math.max(width, 1)}}) +`, "gu"),
    "$1\n",
  );
}
