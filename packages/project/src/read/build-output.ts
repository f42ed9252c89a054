import { readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { CliError } from "../errors.ts";
import { readToolsRedirect } from "../files/redirect.ts";
import { OUTPUT_FOLDER } from "../files/write-plan.ts";

/** A configuration that a build tool has made. All paths are absolute. */
export interface BuiltConfig {
  readonly file: string;
  /** The user's configuration that it was made from, `null` where the tool does not say. */
  readonly madeFrom: string | null;
  /** The environment that it was made for, `null` where the tool does not say. */
  readonly environment: string | null;
}

/**
 * Finds the output of Vite's plugin for Workers, Nitro or another build tool in a folder. Such a tool redirects
 * Wrangler by `.wrangler/deploy/config.json`, so `wrangler dev` and `wrangler deploy` run the output, and so does
 * Sluice.
 *
 * @returns the configuration that Wrangler is redirected to, then those of the Workers that were built with it. Empty
 *   without a build tool's redirect; a redirect of `sluice build` is not one, but the one that it replaced is.
 * @throws CliError for a redirect to a file that does not exist or cannot be read, as Wrangler refuses it.
 */
export function findBuildOutput(folder: string): readonly BuiltConfig[] {
  const toolsOwn = readToolsRedirect(folder);
  // A file in an output folder of ours is never a build tool's, even if the redirect says so.
  if (toolsOwn === null || toolsOwn.configFile.split(/[\\/]/).includes(OUTPUT_FOLDER)) return [];
  return [toolsOwn.configFile, ...toolsOwn.auxiliary].map((file) => readBuiltConfig(folder, file));
}

function readBuiltConfig(folder: string, file: string): BuiltConfig {
  try {
    const { userConfigPath, targetEnvironment } = JSON.parse(readFileSync(file, "utf8")) as {
      readonly userConfigPath?: string;
      readonly targetEnvironment?: string;
    };
    const madeFrom = userConfigPath ? resolve(file, "..", userConfigPath) : null;
    return { file, madeFrom, environment: targetEnvironment || null };
  } catch (error) {
    throw new CliError(
      `${folder}: .wrangler/deploy/config.json leads to "${relative(folder, file)}", which cannot be read ` +
        `(${error instanceof Error ? error.message : error}). A build tool wrote it: run its build ` +
        "again, or delete it to use this folder's own configuration.",
    );
  }
}
