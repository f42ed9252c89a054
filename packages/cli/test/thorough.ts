/** Variable that, set to 1, has tests run all cases that cost seconds each: `pnpm test:deployments`. */
const THOROUGH_VARIABLE = "SLUICE_TEST_THOROUGH";
/** Otherwise one case in six is run, so that all tests stay within their time. */
const STEP = 6;

/** @param from index of the first case that is taken, below 6. */
export function sampled<Case>(cases: readonly Case[], from = 0): Case[] {
  if (process.env[THOROUGH_VARIABLE] === "1") return [...cases];
  return cases.filter((_, i) => i % STEP === from);
}
