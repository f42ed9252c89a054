import { existsSync, readFileSync } from "node:fs";
import { dirname, isAbsolute, join, resolve, sep } from "node:path";
import { dependsOn, type Manifest, readManifest } from "./manifest.ts";

/** Dependency on a packed archive, as each package manager writes it. */
const ARCHIVE = /^(?:file:)?(?<path>.+\.tgz)$/;

/**
 * Finds the folder of the packed archives from which Sluice was installed: by the project's manifest, else by a
 * manifest beside a `node_modules` that contains the running command, such as npx's. `null` where no manifest names
 * one.
 *
 * @param root folder of the project's manifest.
 * @param command absolute path of a module of the running command.
 */
export function archivesFolder(root: string, command: string): string | null {
  for (const folder of [root, ...installationsOf(command)]) {
    const file = join(folder, "package.json");
    const manifest = existsSync(file) ? readManifest(readFileSync(file, "utf8")) : null;
    const archive = manifest === null ? null : archiveIn(manifest, folder);
    if (archive !== null && existsSync(archive)) return dirname(archive);
  }
  return null;
}

function archiveIn(manifest: Manifest, folder: string): string | null {
  if (!dependsOn(manifest, "sluice")) return null;
  const { dependencies, devDependencies } = manifest;
  const path = ARCHIVE.exec(String(devDependencies?.sluice ?? dependencies?.sluice))?.groups?.path;
  if (path === undefined || path.includes("://")) return null;
  return isAbsolute(path) ? path : resolve(folder, path);
}

/** Lists the folders whose `node_modules` contains a module, the nearest first. */
function installationsOf(module: string): string[] {
  const parts = module.split(sep);
  return parts.flatMap((part, i) => (part === "node_modules" ? [parts.slice(0, i).join(sep)] : [])).reverse();
}
