import type { ReferenceRow, TestReference, Verdict } from "../scenario/row.ts";
import { YES } from "../scenario/row.ts";

/** A test by its file and name. */
export const test = (file: string, name: string): TestReference => ({ file, name });

/** What Miniflare does according to its source code. */
export const MINIFLARE = {
  /** The same. */
  yes: YES,
  no: (observed: string): Verdict => ({ kind: "no", observed }),
  differs: (observed: string): Verdict => ({ kind: "differs", observed }),
} as const;

/** A row that a test elsewhere proves. */
export function proven(
  id: string,
  covers: readonly string[],
  production: string,
  miniflare: Verdict,
  ...tests: readonly TestReference[]
): ReferenceRow {
  return { kind: "reference", id, covers, production, miniflare, tests };
}
