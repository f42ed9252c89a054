import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type Framework, POST } from "./frameworks.ts";

/** Word of the page. */
export const WORD = "waiting";
/** Words in its place after the change of the page's source. */
export const CHANGED = "after the change";
/** Folders that Sluice and Wrangler leave in a project. */
export const LEFT_BY_DEV = [".sluice", ".wrangler"];

/**
 * Installs the packages of a project, and returns their versions, in words.
 *
 * @param project path of the new folder.
 * @param npm path of npm's script for Node.js.
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

/** Copies the project's own files, as before any run, and the Worker that handles its messages. */
export function placeProject({ project: source }: Framework, project: string): void {
  for (const left of LEFT_BY_DEV) rmSync(join(project, left), { recursive: true, force: true });
  // The manifest of the installation stays.
  const isSource = (path: string) => ![...LEFT_BY_DEV, "package.json"].includes(basename(path));
  cpSync(source, project, { recursive: true, filter: isSource });
  cpSync(POST, join(project, "post"), { recursive: true });
}

function versionOf(folder: string): string {
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
  return version;
}
