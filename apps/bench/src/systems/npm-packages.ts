import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { InstallOptions } from "./system.ts";

const runToEnd = promisify(execFile);

/** Folder of the peers' packages, outside of the workspace, so that `pnpm install` does not touch it. */
export const PEERS_FOLDER = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../.peers");

const PACKAGES: Readonly<Record<string, string>> = {
  bullmq: "6.7.0",
  elasticmq: "0.7.1",
  fauxqs: "2.4.1",
  ioredis: "6.0.0",
  "pg-boss": "12.35.0",
};

let installing: Promise<void> | undefined;

/** Installs the npm packages of all peers with one `npm install`, unless those of `names` are installed. */
export async function installNpmPackages(names: readonly string[], options: InstallOptions): Promise<void> {
  if (await areInstalled(names)) return;
  if (!options.mayInstall) throw new Error(`${names.join(", ")} not installed, and --no-install was given`);
  installing ??= install();
  await installing;
}

async function areInstalled(names: readonly string[]): Promise<boolean> {
  const versions = await Promise.all(names.map(installedVersion));
  return versions.every((version, i) => version !== null && version === PACKAGES[names[i] ?? ""]);
}

async function installedVersion(name: string): Promise<string | null> {
  try {
    const text = await readFile(path.join(PEERS_FOLDER, "node_modules", name, "package.json"), "utf8");
    return (JSON.parse(text) as { version: string }).version;
  } catch {
    return null;
  }
}

async function install(): Promise<void> {
  await mkdir(PEERS_FOLDER, { recursive: true });
  const manifest = { private: true, dependencies: PACKAGES };
  await writeFile(path.join(PEERS_FOLDER, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  // Without install scripts: the packages work without them.
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  await runToEnd("npm", args, { cwd: PEERS_FOLDER });
}
