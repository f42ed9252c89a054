import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { packed } from "sluice/test/pack";

const ROOT = join(import.meta.dirname, "../../..");
const LINES_SHOWN = 15;

/** Runs a function with a new folder outside of the workspace, which is removed afterwards. */
export async function inFolder<T>(run: (folder: string) => Promise<T>): Promise<T> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "sluice-installs-")));
  try {
    return await run(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Packs packages as they are published, prints their sizes, and returns the paths of the archives. */
export function packArchives(folder: string, packages: readonly string[]): string[] {
  return packages.map((name) => {
    const own = join(folder, "archives", name);
    mkdirSync(own, { recursive: true });
    const archive = packed(join(ROOT, "packages", name), own);
    console.log(`${basename(archive)}: ${kilobytes(statSync(archive).size)}`);
    return archive;
  });
}

/** Installs a package of the registry once, and returns its folder. */
export function fetched(folder: string, name: string, version: string): string {
  const tools = join(folder, "tools", `${name}-${version}`.replaceAll("/", "-"));
  const found = join(tools, "node_modules", name);
  if (statSync(found, { throwIfNoEntry: false }) !== undefined) return found;
  mkdirSync(tools, { recursive: true });
  writeFileSync(join(tools, "package.json"), '{"private":true}');
  const options = ["--no-audit", "--no-fund", "--no-package-lock", "--loglevel", "error"];
  execFileSync("npm", ["install", ...options, `${name}@${version}`], { cwd: tools, stdio: "inherit" });
  return found;
}

/** Makes the environment of a project's processes, with `node` first in the PATH and no settings of this workspace. */
export function environmentOf(project: string, node: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    PATH: [dirname(node), join(project, "node_modules/.bin"), process.env.PATH].join(delimiter),
    // Removes the variables of the pnpm that runs this process: any manager would take them for settings.
    ...Object.fromEntries(
      Object.keys(process.env).flatMap((name) => (/^npm_/i.test(name) ? [[name, undefined]] : [])),
    ),
    CI: "1",
    NO_COLOR: "1",
    NODE_COMPILE_CACHE: "",
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_REGISTRY_PATH: join(project, "registry"),
  };
}

/** Describes a failure, with the output of the failed process. */
export function wordsOf(error: unknown): string {
  const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
  return `${error instanceof Error ? error.message : error}\n${stdout}${stderr}`;
}

/** Returns the last lines of a text, as many as are shown. */
export function endOf(text: string): string {
  return text.trim().split("\n").slice(-LINES_SHOWN).join("\n");
}

/** Formats the time since `startMs` in whole seconds. */
export function secondsSince(startMs: number): string {
  return `${Math.round((Date.now() - startMs) / 1000)} s`;
}

export function kilobytes(bytes: number): string {
  return `${Math.round(bytes / 1_000).toLocaleString("en")} KB`;
}
