import type { RowHead } from "../scenario/row.ts";
import type { SpecRow } from "./spec-rows.ts";

export interface Coverage {
  /** Rows of the specification that a row of the sheet proves. */
  readonly covered: readonly string[];
  /** Rows without a proof that need one. */
  readonly uncovered: readonly string[];
  /** Rows without a proof that have an excuse. */
  readonly excused: readonly string[];
}

/** Sorts the rows of the specification by whether the sheet proves them. Throws if the sheet names an unknown row. */
export function coverageOf(rows: readonly RowHead[], spec: readonly SpecRow[]): Coverage {
  const keys = new Set(spec.flatMap(({ key }) => [key, chapterOf(key)]));
  for (const { id, covers } of rows) {
    for (const key of covers) if (!keys.has(key)) throw new Error(`${id} covers "${key}", which is no row`);
  }
  const proven = new Set(rows.flatMap(({ covers }) => covers));
  const isProven = ({ key }: SpecRow) => proven.has(key) || proven.has(chapterOf(key));
  const withoutProof = spec.filter((row) => !isProven(row));
  return {
    covered: spec.filter(isProven).map(({ key }) => key),
    uncovered: withoutProof.filter(({ excuse }) => excuse === null).map(({ key }) => key),
    excused: withoutProof.filter(({ excuse }) => excuse !== null).map(({ key }) => key),
  };
}

function chapterOf(key: string): string {
  return key.split(" ")[0] ?? key;
}
