import { readFileSync, realpathSync } from "node:fs";
import module from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { CliError } from "@sluice/project/errors";

/** First major version of Cloudflare's plugin with other options: it reads no Wrangler configurations. */
const UNKNOWN_MAJOR = 2;

/**
 * Refuses a plugin of Cloudflare's whose options are not those that sluice() makes.
 *
 * @param root folder that Vite is started in.
 * @throws CliError with the version that works.
 */
export function refuseUnknownPlugin(root: string): void {
  const folder = pluginFolder(root);
  if (folder === null) return;
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
  if (Number.parseInt(version, 10) < UNKNOWN_MAJOR) return;
  throw new CliError(
    `@sluice/vite works with @cloudflare/vite-plugin 1, from 1.64 on, and ${folder} is ${version}. Install that: ` +
      "npm install --save-dev @cloudflare/vite-plugin@1",
  );
}

/** Finds the folder of Cloudflare's plugin; `null` where none can be found from a folder. */
export function pluginFolder(root: string): string | null {
  try {
    const manifest = module.findPackageJSON(
      "@cloudflare/vite-plugin",
      pathToFileURL(join(root, "package.json")),
    );
    return manifest === undefined ? null : dirname(realpathSync(manifest));
  } catch {
    return null;
  }
}
