import { readReferences } from "../references/references.ts";
import type { RowHead } from "../scenario/row.ts";
import { SCENARIO_SECTIONS } from "../scenarios/index.ts";

/** Section of the sheet, with one table. */
export interface Section {
  readonly title: string;
  /** File of its scenarios in the folder `scenarios`; `null` if it has none. */
  readonly file: string | null;
  readonly rows: readonly RowHead[];
}

const references = readReferences();
const withScenarios = SCENARIO_SECTIONS.map(
  ([title, file, scenarios]): Section => ({
    title,
    file,
    rows: [...scenarios, ...(references.get(title) ?? [])],
  }),
);
const isOfScenarios = (title: string) => withScenarios.some((section) => section.title === title);

export const SECTIONS: readonly Section[] = [
  ...withScenarios,
  ...[...references].flatMap(([title, rows]) => (isOfScenarios(title) ? [] : { title, file: null, rows })),
];

/** Lists every row of the sheet. Throws if two have the same id. */
export function allRows(): readonly RowHead[] {
  const rows = SECTIONS.flatMap((section) => section.rows);
  const ids = new Set<string>();
  for (const { id } of rows) {
    if (ids.has(id)) throw new Error(`two rows are called ${id}`);
    ids.add(id);
  }
  return rows;
}
