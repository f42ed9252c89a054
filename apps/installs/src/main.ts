import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { runProgram } from "@sluice/harness/command-line";
import { packed } from "sluice/test/pack";
import { type Command, parseCommandLine, USAGE } from "./command-line.ts";
import { MANAGERS, type Manager } from "./managers.ts";
import { tryInstall } from "./try-install.ts";

const PACKAGES = ["cli", "testing", "vite"];
const ROOT = join(import.meta.dirname, "../../..");

await runProgram({ usage: USAGE, parse: parseCommandLine, run: tryInstalls });

/** Answers whether everything worked. */
async function tryInstalls({ managers, nodes, without }: Command): Promise<boolean> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sluice-installs-")));
  try {
    const archives = PACKAGES.map((name) => {
      const own = join(folder, "archives", name);
      mkdirSync(own, { recursive: true });
      const archive = packed(join(ROOT, "packages", name), own);
      console.log(`${basename(archive)}: ${kilobytes(statSync(archive).size)}`);
      return archive;
    });
    let isWell = true;
    for (const nodeMajor of nodes) {
      const node = join(fetched(folder, "node", nodeMajor), "bin/node");
      for (const name of managers) {
        const manager: Manager = MANAGERS[name];
        const bin = join(fetched(folder, manager.package, manager.version), manager.bin);
        const project = join(folder, `${name}-on-${nodeMajor}`);
        const startMs = Date.now();
        const { problems, bytes } = await tryInstall({
          ...{ manager, node, bin, archives, without },
          folder: project,
        });
        const took = `${Math.round((Date.now() - startMs) / 1000)} s`;
        const how =
          problems.length > 0
            ? "fails"
            : bytes === 0
              ? "works"
              : `works, ${kilobytes(bytes)} in node_modules`;
        console.log(`${name} on Node.js ${nodeMajor}: ${how}, ${took}`);
        for (const problem of problems) console.log(`  ${problem.replaceAll("\n", "\n  ")}`);
        if (problems.length > 0) isWell = false;
        rmSync(project, { recursive: true, force: true });
      }
    }
    return isWell;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Folder of a package of the registry, which is got once. */
function fetched(folder: string, name: string, version: string): string {
  const tools = join(folder, "tools", `${name}-${version}`.replaceAll("/", "-"));
  const found = join(tools, "node_modules", name);
  if (statSync(found, { throwIfNoEntry: false }) !== undefined) return found;
  mkdirSync(tools, { recursive: true });
  writeFileSync(join(tools, "package.json"), '{"private":true}');
  const options = ["--no-audit", "--no-fund", "--no-package-lock", "--loglevel", "error"];
  execFileSync("npm", ["install", ...options, `${name}@${version}`], { cwd: tools, stdio: "inherit" });
  return found;
}

function kilobytes(bytes: number): string {
  return `${Math.round(bytes / 1_000).toLocaleString("en")} KB`;
}
