import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { homeFolder } from "../folders.ts";

/**
 * Returns the folder in which Wrangler keeps a file for each Worker that runs on this machine. Wrangler does not export
 * its path (wrangler 4.164, `getRegistryPath`). Miniflare's own default is another folder.
 */
export function registryFolder(
  env: NodeJS.ProcessEnv,
  home: string = homeFolder(),
  platform: NodeJS.Platform = process.platform,
): string {
  return chosenRegistry(env) ?? join(wranglerFolder(env, home, platform), "registry");
}

/** Returns the absolute path of the registry's folder in the variables; `null` where none names it. */
export function chosenRegistry(env: NodeJS.ProcessEnv): string | null {
  const chosen = env.CLOUDFLARE_DEV_REGISTRY_PATH || env.WRANGLER_REGISTRY_PATH;
  return chosen ? resolve(chosen) : null;
}

function wranglerFolder(env: NodeJS.ProcessEnv, home: string, platform: NodeJS.Platform): string {
  const legacy = join(home, ".wrangler");
  if (statSync(legacy, { throwIfNoEntry: false })?.isDirectory()) return legacy;
  return join(env.XDG_CONFIG_HOME || configFolder(env, home, platform), ".wrangler");
}

/** Returns the folder for configurations by the XDG rules, as libraries apply them to other systems. */
function configFolder(env: NodeJS.ProcessEnv, home: string, platform: NodeJS.Platform): string {
  switch (platform) {
    case "darwin":
      return join(home, "Library/Preferences");
    case "win32":
      return join(env.APPDATA || join(home, "AppData/Roaming"), "xdg.config");
    default:
      return join(home, ".config");
  }
}
