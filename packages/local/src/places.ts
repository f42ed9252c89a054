import { join, resolve } from "node:path";
import { OUTPUT_FOLDER } from "@sluice/project/files/write-plan";
import type { Places } from "@sluice/project/generate/plan";
import type { Purpose } from "@sluice/project/generate/worker-config";
import { wranglerDefaults } from "@sluice/project/wrangler/wrangler-config";
import { pageArchive } from "./page.ts";
import { readyBroker, runtimeModules } from "./runtime-modules.ts";

/** Folders that a command reads from and writes to. */
export interface CommandPlaces extends Places {
  /** Folder that `.gitignore` is put into: the output folder, or its parent. */
  readonly root: string;
}

/**
 * Finds the folders that a command reads from and writes to. Everything is written below the current folder, whichever
 * Workers are named: `.sluice/<worker>` for `build`, `.sluice/dev/<worker>` for `dev`, `.sluice/serve/<worker>` for
 * `serve`. `processFolder` adds a suffix for an environment, another data folder, or a Worker elsewhere.
 */
export async function findPlaces(
  purpose: Purpose["kind"],
  workingDirectory: string,
  outdir: string = OUTPUT_FOLDER,
): Promise<CommandPlaces> {
  const root = resolve(workingDirectory, outdir);
  return {
    root,
    outputDirectory: purpose === "build" ? root : join(root, purpose),
    workingDirectory,
    runtime: runtimeModules(),
    page: await pageArchive(),
    ...(purpose === "dev" ? { readyBroker: await readyBroker() } : {}),
    defaults: await wranglerDefaults(),
    environment: process.env,
  };
}
