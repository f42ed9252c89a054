import { join, resolve } from "node:path";
import { OUTPUT_FOLDER } from "@sluice/project/files/write-plan";
import type { Places } from "@sluice/project/generate/plan";
import type { Purpose } from "@sluice/project/generate/worker-config";
import { wranglerDefaults } from "@sluice/project/wrangler/wrangler-config";
import { pageArchive } from "./page.ts";
import { readyBroker, runtimeModules } from "./runtime-modules.ts";

/** A folder of ours and where a command's files go in it. */
export interface CommandPlaces extends Places {
  /** Folder that `.gitignore` is put into: the output folder, or the one around it. */
  readonly root: string;
}

/**
 * Where a command reads and writes. Everything goes into one folder of the current one, whichever Workers are named:
 * `.sluice/<worker>` for `build`, `.sluice/dev/<worker>` for `dev` and `.sluice/serve/<worker>` for `serve`, so that
 * none disturbs another. The folder of a mode, of another data folder or of a Worker elsewhere has a suffix.
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
