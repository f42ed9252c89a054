import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type Framework, POST } from "./frameworks.ts";

/** Word of the page, before and after the change of its source. */
export const WORD = "waiting";
export const CHANGED = "after the change";
/** Folders that Sluice and Wrangler leave in a project. */
export const LEFT_BY_DEV = [".sluice", ".wrangler"];

/**
 * Installs what a project needs, and returns the installed versions.
 *
 * @param project new folder for it.
 * @param npm program of npm, a script of Node.js.
 */
export function installProject(
  { packages, named }: Framework,
  {
    project,
    env,
    npm,
    archives,
  }: { project: string; env: NodeJS.ProcessEnv; npm: string; archives: readonly string[] },
): string {
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{"private":true,"type":"module"}');
  const all = [...packages, "wrangler"].map((name) => `${name}@latest`);
  const options = ["--no-audit", "--no-fund", "--loglevel", "error"];
  const args = [npm, "install", ...options, ...all, ...archives];
  execFileSync(process.execPath, args, { cwd: project, env, encoding: "utf8", stdio: "pipe" });
  return [...packages.slice(0, named), "wrangler"]
    .map((name) => `${name} ${versionOf(join(project, "node_modules", name))}`)
    .join(", ");
}

/** Puts the project's own files in place as before any run, and the Worker that handles its messages. */
export function placeProject({ project: source }: Framework, project: string): void {
  for (const left of LEFT_BY_DEV) rmSync(join(project, left), { recursive: true, force: true });
  // The manifest is that of the installation.
  const isSource = (path: string) => ![...LEFT_BY_DEV, "package.json"].includes(basename(path));
  cpSync(source, project, { recursive: true, filter: isSource });
  cpSync(POST, join(project, "post"), { recursive: true });
}

function versionOf(folder: string): string {
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
  return version;
}
