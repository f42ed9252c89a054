import { join, resolve } from "node:path";
import type { Project } from "@sluice/project/read/project";

/**
 * Returns the absolute path of the data folder.
 *
 * @param persistTo the folder, relative to the current one. Default: `.wrangler/state` beside the first Worker.
 */
export function dataFolderOf({ workers, broker }: Project, persistTo: string | undefined): string {
  return resolve(persistTo ?? join(workers[0]?.userDirectory ?? broker.directory, ".wrangler/state"));
}
