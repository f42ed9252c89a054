import { createRequire } from "node:module";
import path from "node:path";
import { type Measured, measure } from "../measure/measure.ts";
import { findTests } from "../references/find-tests.ts";
import { coverageOf } from "../spec/coverage.ts";
import { readSpecRows } from "../spec/spec-rows.ts";
import { renderSheet } from "./render-sheet.ts";
import { allRows, SECTIONS } from "./sections.ts";

/** Path of the sheet. */
export const SHEET_FILE = path.resolve(import.meta.dirname, "../../../../docs/conformance.md");

export interface Sheet {
  readonly text: string;
  readonly measured: ReadonlyMap<string, Measured>;
}

/** Measures all rows and makes the sheet. */
export async function makeSheet(): Promise<Sheet> {
  const rows = allRows();
  const measured = await measure(rows);
  const coverage = coverageOf(rows, readSpecRows());
  const text = renderSheet({
    sections: SECTIONS,
    measured,
    tests: findTests(),
    coverage,
    versions: versions(),
  });
  return { text, measured };
}

function versions(): string {
  const require = createRequire(import.meta.url);
  const { version } = require("wrangler/package.json") as { version: string };
  return `Wrangler ${version}`;
}
