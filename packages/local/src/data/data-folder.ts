import { join, resolve } from "node:path";
import type { Project } from "@sluice/project/read/project";

/**
 * Returns the absolute path of the folder that everything is kept in: Wrangler's, beside the first Worker.
 *
 * @param persistTo another folder, seen from the current one.
 */
export function dataFolderOf({ workers, broker }: Project, persistTo: string | undefined): string {
  return resolve(persistTo ?? join(workers[0]?.userDirectory ?? broker.directory, ".wrangler/state"));
}
