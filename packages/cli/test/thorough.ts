/** Variable that, set to 1, has tests run all cases that cost seconds each: `pnpm test:deployments`. */
const THOROUGH_VARIABLE = "SLUICE_TEST_THOROUGH";
/** Distance of the cases that are run otherwise, so that all tests stay within their time. */
const STEP = 6;

/** Picks the cases to run. The first one has the index `from`, below 6. */
export function sampled<Case>(cases: readonly Case[], from = 0): Case[] {
  if (process.env[THOROUGH_VARIABLE] === "1") return [...cases];
  return cases.filter((_, i) => i % STEP === from);
}
