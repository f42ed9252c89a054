import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUNDLES_VARIABLE } from "@sluice/protocol/test/workerd-process";
import type { TestProject } from "vitest/node";
import { HAS_OTHERS } from "./others.ts";
import { ARCHIVES_VARIABLE } from "./pack.ts";
import { COMMAND_VARIABLE } from "./running.ts";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));

/**
 * Builds the command once for a run of all tests, since the built one starts in half the processor time of the source,
 * and makes folders for packed archives and for bundles of Workers.
 */
export default function setup(project: TestProject): () => void {
  // Another test project of this run has built it.
  if (process.env[COMMAND_VARIABLE] !== undefined) return () => {};
  if (!HAS_OTHERS) {
    console.log(
      "Older Wranglers, frameworks and the cloudflare SDK are not installed: their tests are skipped. To run them " +
        "too: npx -y pnpm@12.21.0 -C check install",
    );
  }
  const folder = mkdtempSync(join(tmpdir(), "sluice-built-"));
  const archives = join(folder, "archives");
  mkdirSync(archives);
  process.env[ARCHIVES_VARIABLE] = archives;
  const bundles = join(folder, "bundles");
  mkdirSync(bundles);
  process.env[BUNDLES_VARIABLE] = bundles;
  project.onTestsRerun(() => {
    for (const name of readdirSync(bundles)) rmSync(join(bundles, name));
  });
  process.env[COMMAND_VARIABLE] = join(buildCommand(join(folder, "sluice")), "main.js");
  return () => rmSync(folder, { recursive: true, force: true });
}

/** Builds the package into a folder laid out as the package's own, and returns its `dist`. */
function buildCommand(folder: string): string {
  mkdirSync(folder);
  copyFileSync(join(PACKAGE, "package.json"), join(folder, "package.json"));
  symlinkSync(join(PACKAGE, "node_modules"), join(folder, "node_modules"));
  symlinkSync(join(PACKAGE, "../../docs"), join(folder, "docs"));
  const dist = join(folder, "dist");
  execFileSync(process.execPath, ["build.mjs", dist], {
    cwd: PACKAGE,
    stdio: ["ignore", "ignore", "inherit"],
  });
  return dist;
}
