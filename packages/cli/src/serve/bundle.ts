import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { CliError } from "../errors.ts";
import { readUpload, type Upload } from "./upload.ts";

/**
 * Has Wrangler bundle a Worker as it would for a deployment: with its rules, aliases, custom builds and polyfills.
 *
 * @param configFile absolute path of the generated configuration.
 * @param env environment variables of Wrangler's process.
 * @throws CliError with everything that Wrangler printed if it fails.
 */
export async function bundleWorker(
  name: string,
  configFile: string,
  env: NodeJS.ProcessEnv,
): Promise<Upload> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-bundle-"));
  try {
    const file = join(folder, "upload");
    const cli = createRequire(import.meta.url).resolve("wrangler");
    const args = ["--no-warnings", cli, "deploy", "--dry-run", "--outfile", file, "--config", configFile];
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    const code = new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    const printed = await Promise.all([text(child.stdout), text(child.stderr)]);
    if ((await code) !== 0) throw new CliError(`Worker "${name}" cannot be bundled.\n${printed.join("")}`);
    return await readUpload(await readFile(file), name, dirname(configFile));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
