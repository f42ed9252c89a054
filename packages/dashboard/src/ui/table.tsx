import type { ComponentChildren } from "preact";

/** A column: its heading, and its cell for a row. Numbers stand to the right. */
export interface Column<Row> {
  readonly heading: string;
  readonly isNumber?: boolean;
  /** Takes the whole width where the screen is narrow and rows are cards. */
  readonly isWide?: boolean;
  /** Is there only where rows are cards. */
  readonly isNarrow?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
  /** Value that rows are sorted by, numbers the greatest first. Default: the column sorts nothing. */
  readonly by?: (row: Row) => number | string;
}

/** Column that a table is sorted by; `null` for its own order. */
export interface Sorting {
  readonly heading: string | null;
  /** Whether the order is turned around. */
  readonly isTurned: boolean;
}

interface TableProps<Row> {
  /** Order of the rows, which the caller sorts. Default: headings sort nothing. */
  readonly sorting?: Sorting;
  readonly sort?: (sorting: Sorting) => void;
  readonly label: string;
  /** Content beside the heading. */
  readonly beside?: ComponentChildren;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Content in place of no rows. Default: the headings alone. */
  readonly empty?: ComponentChildren;
  readonly rowKey: (row: Row) => string;
}

/** Role of an element of a table. Without it browsers take a table that is laid out as cards for none. */
function role(name: "table" | "rowgroup" | "row" | "columnheader" | "rowheader" | "cell") {
  return { role: name };
}

/** A table whose first column names the row. On a narrow screen rows become cards, with a heading at each value. */
export function Table<Row>({ label, beside, columns, rows, rowKey, empty, sorting, sort }: TableProps<Row>) {
  return (
    <section class="card" aria-label={label}>
      <header>
        <h2 tabIndex={-1}>{label}</h2>
        {beside === undefined ? null : <div class="row">{beside}</div>}
      </header>
      {rows.length === 0 && empty !== undefined ? (
        empty
      ) : (
        <div class="scroll">
          <table {...role("table")} aria-label={label}>
            <thead {...role("rowgroup")}>
              <tr {...role("row")}>
                {columns.map((column) => (
                  <th
                    key={column.heading}
                    {...role("columnheader")}
                    scope="col"
                    class={classOf({ ...column, isWide: false })}
                    aria-sort={sorting?.heading === column.heading ? directionOf(column, sorting) : undefined}
                  >
                    {column.by === undefined || sort === undefined ? (
                      column.heading
                    ) : (
                      <button
                        type="button"
                        class="plain"
                        onClick={() => sort(nextSorting(sorting, column.heading))}
                      >
                        {column.heading}
                      </button>
                    )}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody {...role("rowgroup")}>
              {rows.map((row) => (
                <tr key={rowKey(row)} {...role("row")}>
                  {columns.map((column, i) =>
                    i === 0 ? (
                      <th key={column.heading} {...role("rowheader")} scope="row">
                        {column.cell(row)}
                      </th>
                    ) : (
                      <td
                        key={column.heading}
                        {...role("cell")}
                        data-label={column.heading}
                        class={classOf(column)}
                      >
                        <div>{column.cell(row)}</div>
                      </td>
                    ),
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function classOf<Row>({ isNumber, isWide, isNarrow }: Column<Row>): string {
  return [isNumber && "number", isWide && "wide", isNarrow && "narrow"].filter(Boolean).join(" ");
}

/** Sorts by a column, then the other way round, then not at all. */
function nextSorting(sorting: Sorting | undefined, heading: string): Sorting {
  if (sorting?.heading !== heading) return { heading, isTurned: false };
  return sorting.isTurned ? { heading: null, isTurned: false } : { heading, isTurned: true };
}

function directionOf<Row>({ isNumber = false }: Column<Row>, { isTurned }: Sorting) {
  return isNumber === isTurned ? "ascending" : "descending";
}

/** Sorts rows as a table's headings say: numbers the greatest first, texts by the alphabet. */
export function sorted<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { heading, isTurned }: Sorting,
): readonly Row[] {
  const by = columns.find((column) => column.heading === heading)?.by;
  if (by === undefined) return rows;
  const compared = (a: number | string, b: number | string) =>
    typeof a === "number" && typeof b === "number" ? b - a : String(a).localeCompare(String(b));
  return [...rows].sort((a, b) => compared(by(a), by(b)) * (isTurned ? -1 : 1));
}

/** A count, which stands out unless it is 0. */
export function Count({ of }: { readonly of: number }) {
  return <span class={of > 0 ? "some" : "quiet"}>{of.toLocaleString("en")}</span>;
}

/** A list of names, or a dash. */
export function Names({ of }: { readonly of: readonly ComponentChildren[] }) {
  if (of.length === 0) return <None />;
  return <>{of.flatMap((name, i) => (i === 0 ? [name] : [", ", name]))}</>;
}

/** A dash where there is no value. */
export function None() {
  return <span class="quiet none">–</span>;
}
