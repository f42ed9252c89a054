import { fileURLToPath } from "node:url";
import { Stryker } from "@stryker-mutator/core";
import type { Request } from "./command-line.ts";
import { scoreOf } from "./score.ts";

/** Folder inside the package's for the copy that is changed, the results of the run before and the report. */
const FOLDER = ".stryker-tmp";

/**
 * Runs Stryker over a package: one copy of its folder with all mutants in it, switched on one at a time, and for each
 * only the tests that reach it. Prints the survivors and the score; writes `.stryker-tmp/report.html`.
 *
 * @returns the score in percent; not a number when there was nothing to change.
 */
export async function mutate(request: Request): Promise<number> {
  // Stryker has no option for the folder that it is about.
  process.chdir(request.directory);
  const results = await new Stryker({
    testRunner: "vitest",
    plugins: [import.meta.resolve("@stryker-mutator/vitest-runner")],
    vitest: { configFile: fileURLToPath(new URL("./vitest.config.ts", import.meta.url)) },
    mutate: [...request.mutate],
    // Stryker would rewrite their paths for the copy, with an API that TypeScript 7 does not have. Left out of it, the
    // copy's code is under the originals, which are in the folder around it.
    ignorePatterns: ["tsconfig*.json"],
    coverageAnalysis: "perTest",
    // What runs once, when a module is loaded, would need a new process for each of its mutants.
    ignoreStatic: true,
    incremental: true,
    force: request.force,
    incrementalFile: `${FOLDER}/${request.packageName}.json`,
    tempDirName: FOLDER,
    cleanTempDir: "always",
    // An endless loop is a mutant found. A busy machine must not look like one.
    timeoutMS: 5_000,
    reporters: ["clear-text", "html"],
    htmlReporter: { fileName: `${FOLDER}/report.html` },
    clearTextReporter: { reportTests: false, logTests: false, allowEmojis: false },
    allowEmpty: true,
    concurrency: request.workers,
    thresholds: { high: 100, low: request.scoreMin, break: null },
  }).runMutationTest();
  return scoreOf(results.map(({ status }) => status));
}
