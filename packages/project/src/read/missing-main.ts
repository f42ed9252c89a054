import { existsSync } from "node:fs";
import { relative } from "node:path";
import { CliError } from "../errors.ts";
import type { UserWorker } from "./worker.ts";

/**
 * Refuses Workers whose `main` does not exist, at the start of a command, since Wrangler would name the file relative
 * to the generated entry. The output of a custom build need not exist yet.
 *
 * @throws CliError in Wrangler's words, with the configuration that names the file.
 */
export function refuseMissingMain(
  workers: readonly Pick<UserWorker, "file" | "directory" | "main" | "wrangler">[],
): void {
  for (const { file, directory, main, wrangler } of workers) {
    if (main.kind === "none" || wrangler.build.command !== undefined || existsSync(main.file)) continue;
    throw new CliError(`${file}: The entry-point file at "${relative(directory, main.file)}" was not found.`);
  }
}
