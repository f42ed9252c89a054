import { basename } from "node:path";
import { fileURLToPath } from "node:url";

/** Folder in the package for the mutated copy, the results of the last run and the report. */
const FOLDER = ".stryker-tmp";

/**
 * Settings of Stryker, which runs in the folder of a package. It copies the folder once with all mutants, switches them
 * on one at a time, and for each runs only the tests that reach it.
 *
 * @type {import("@stryker-mutator/api/core").PartialStrykerOptions}
 */
export default {
  testRunner: "vitest",
  plugins: [
    new URL("../../check/node_modules/@stryker-mutator/vitest-runner/dist/src/index.js", import.meta.url)
      .href,
  ],
  vitest: { configFile: fileURLToPath(new URL("./src/vitest.config.ts", import.meta.url)) },
  mutate: ["src/**/*.ts", "!src/**/*.test.ts"],
  // Stryker would rewrite the paths in these files for the copy, with an API that TypeScript 7 does not have. Without
  // them the copy uses the originals, which are in the folder around it.
  ignorePatterns: ["tsconfig*.json"],
  coverageAnalysis: "perTest",
  // Code that runs once, when a module is loaded, would need a new process for each of its mutants.
  ignoreStatic: true,
  incremental: true,
  incrementalFile: `${FOLDER}/${basename(process.cwd())}.json`,
  tempDirName: FOLDER,
  cleanTempDir: "always",
  // A mutant that loops without end counts as killed; a busy machine must not look like that.
  timeoutMS: 5_000,
  reporters: ["clear-text", "html"],
  htmlReporter: { fileName: `${FOLDER}/report.html` },
  clearTextReporter: { reportTests: false, logTests: false, allowEmojis: false },
  allowEmpty: true,
  // A small machine stays usable with two.
  concurrency: 2,
  thresholds: { high: 100, low: 90, break: 90 },
};
