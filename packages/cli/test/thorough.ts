/** Set to 1, tests take every case of those that cost seconds each: `pnpm test:deployments`. */
const THOROUGH_VARIABLE = "SLUICE_TEST_THOROUGH";
/** Otherwise each sixth, so that a run of all tests stays within its time. */
const STEP = 6;

/** @param from which of the first six cases is taken first. */
export function sampled<Case>(cases: readonly Case[], from = 0): Case[] {
  if (process.env[THOROUGH_VARIABLE] === "1") return [...cases];
  return cases.filter((_, i) => i % STEP === from);
}
