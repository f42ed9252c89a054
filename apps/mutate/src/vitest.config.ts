import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/**
 * The unit tests of one package, as the project `unit` of the repository's own configuration has them, in a copy of
 * the package's folder. Without the searches through thousands of histories (`model`, `exhaustive`): they reach every
 * mutant, take seconds each, and say only that something is wrong. What a mutant breaks is to be named by a test of
 * its own.
 */
export default defineConfig({
  test: {
    include: ["{src,test}/**/*.test.ts"],
    exclude: ["**/*.{workerd,e2e,model,exhaustive}.test.ts", "**/node_modules/**"],
    setupFiles: [fileURLToPath(new URL("./fixed-seed.ts", import.meta.url))],
    testTimeout: 60_000,
  },
});
