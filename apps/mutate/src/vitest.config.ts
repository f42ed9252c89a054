import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/**
 * Runs the unit tests of one package, those of the project `unit` of the repository's own configuration, in a copy of
 * the package's folder. The searches through thousands of histories (`model`, `exhaustive`) are left out: they reach
 * every mutant, take seconds each, and do not say what is wrong. A test of its own should name what a mutant breaks.
 */
export default defineConfig({
  test: {
    include: ["{src,test}/**/*.test.ts"],
    exclude: ["**/*.{workerd,e2e,model,exhaustive}.test.ts", "**/node_modules/**"],
    setupFiles: [fileURLToPath(new URL("./fixed-seed.ts", import.meta.url))],
    testTimeout: 60_000,
  },
});
