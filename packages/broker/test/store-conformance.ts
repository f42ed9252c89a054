import { COMMITS } from "./store-conformance/commits.ts";
import type { ConformanceCase } from "./store-conformance/conformance-case.ts";
import { OTHER_RECORDS } from "./store-conformance/other-records.ts";
import { ROWS_WRITTEN } from "./store-conformance/rows-written.ts";
import { SEGMENTS } from "./store-conformance/segments.ts";

/**
 * Cases that every `QueueStore` has to pass. No test framework in here: the same cases run in Node against the store in
 * memory and inside workerd against the one in SQLite.
 */
export const STORE_CONFORMANCE: readonly ConformanceCase[] = [
  ...COMMITS,
  ...SEGMENTS,
  ...OTHER_RECORDS,
  ...ROWS_WRITTEN,
];
