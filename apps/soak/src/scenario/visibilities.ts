import { VISIBILITY_TOTAL_MS_MAX } from "../ledger/named-receives.ts";

/** Longer than an attempt id is remembered, in ms. */
export const LONG_VISIBILITY_MS = 600_000;
/** Visibility timeouts that receives ask for, in ms. */
export const VISIBILITIES_MS = [0, 500, 30_000, 60_000, LONG_VISIBILITY_MS, VISIBILITY_TOTAL_MS_MAX];
