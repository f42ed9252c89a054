import { basename } from "node:path";
import { fileURLToPath } from "node:url";

/** Folder inside the package's for the copy that is changed, the results of the run before and the report. */
const FOLDER = ".stryker-tmp";

/**
 * Settings of Stryker, which is run in the folder of a package: one copy of the folder with all mutants in it, switched
 * on one at a time, and for each only the tests that reach it.
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
  // Stryker would rewrite their paths for the copy, with an API that TypeScript 7 does not have. Left out of it, the
  // copy's code is under the originals, which are in the folder around it.
  ignorePatterns: ["tsconfig*.json"],
  coverageAnalysis: "perTest",
  // What runs once, when a module is loaded, would need a new process for each of its mutants.
  ignoreStatic: true,
  incremental: true,
  incrementalFile: `${FOLDER}/${basename(process.cwd())}.json`,
  tempDirName: FOLDER,
  cleanTempDir: "always",
  // An endless loop is a mutant found. A busy machine must not look like one.
  timeoutMS: 5_000,
  reporters: ["clear-text", "html"],
  htmlReporter: { fileName: `${FOLDER}/report.html` },
  clearTextReporter: { reportTests: false, logTests: false, allowEmojis: false },
  allowEmpty: true,
  // A small machine stays usable beside two.
  concurrency: 2,
  thresholds: { high: 100, low: 90, break: 90 },
};
