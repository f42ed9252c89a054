import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readOptions, runProgram } from "@sluice/harness/command-line";
import { endOf, environmentOf, fetched, inFolder, packArchives, secondsSince, wordsOf } from "../lab.ts";
import { MANAGERS } from "../managers.ts";

const USAGE = `pnpm try-vitest

Runs the tests of a project by each of Cloudflare's plugins for Vitest, as the registry has them now.`;

/** Project of the tests of `@sluice/testing/vitest`. */
const PROJECT = join(import.meta.dirname, "../../../../packages/testing/test/fixtures/shop");
/** Plugin that the project's configurations import. */
const ITS_PLUGIN = "@cloudflare/vitest-plugin";
/** Folder of its project without `sluice()`, which is for tests of `sluice init`, and is left out here. */
const PLAIN = "notes";
/** Plugins for Vitest, each with the Vitest that it needs. */
const PLUGINS: Readonly<Record<string, string>> = {
  [ITS_PLUGIN]: "vitest@latest",
  "@cloudflare/vitest-pool-workers": "vitest@4",
};

await runProgram({
  usage: USAGE,
  parse: (args) => (readOptions(args, {}).values.help === true ? "help" : null),
  run: () => inFolder(tryPlugins),
});

async function tryPlugins(folder: string): Promise<boolean> {
  const archives = packArchives(folder, ["testing"]);
  const npm = join(fetched(folder, MANAGERS.npm.package, MANAGERS.npm.version), MANAGERS.npm.bin);
  let isWell = true;
  for (const [i, [plugin, vitest]] of Object.entries(PLUGINS).entries()) {
    const startMs = Date.now();
    const project = join(folder, `${i}`);
    const env = { ...environmentOf(project, process.execPath), CLOUDFLARE_CF_FETCH_ENABLED: "false" };
    const run = (args: readonly string[]) =>
      execFileSync(process.execPath, args, { cwd: project, env, encoding: "utf8", stdio: "pipe" });
    const versionOf = (name: string) => {
      const file = join(project, "node_modules", name, "package.json");
      return `${name} ${JSON.parse(readFileSync(file, "utf8")).version}`;
    };
    try {
      placeProject(project, plugin);
      const options = ["--no-audit", "--no-fund", "--loglevel", "error"];
      run([npm, "install", ...options, `${plugin}@latest`, vitest, "wrangler@latest", ...archives]);
      run(["node_modules/vitest/vitest.mjs", "run", "--reporter=json", "--outputFile=results.json"]);
      const { numPassedTests, numTotalTests } = JSON.parse(
        readFileSync(join(project, "results.json"), "utf8"),
      );
      if (numPassedTests === 0 || numPassedTests < numTotalTests) throw new Error(`${numPassedTests} passed`);
      const versions = [plugin, "vitest", "wrangler"].map(versionOf).join(", ");
      console.log(`${versions}: ${numPassedTests} passed, ${secondsSince(startMs)}`);
    } catch (error) {
      isWell = false;
      console.log(`${plugin}: fails\n  ${endOf(wordsOf(error)).replaceAll("\n", "\n  ")}`);
    }
  }
  return isWell;
}

function placeProject(project: string, plugin: string): void {
  mkdirSync(project);
  cpSync(PROJECT, project, { recursive: true });
  rmSync(join(project, PLAIN), { recursive: true });
  const config = join(project, "vitest.config.ts");
  const text = readFileSync(config, "utf8");
  writeFileSync(
    config,
    text.replace(ITS_PLUGIN, plugin).replaceAll(new RegExp(`^.*"./${PLAIN}".*\n`, "gm"), ""),
  );
  writeFileSync(join(project, "package.json"), '{"private":true,"type":"module"}');
}
