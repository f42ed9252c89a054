import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { unpacked } from "./pack.ts";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
const ownModule = (name: string) => join(PACKAGE, "node_modules", name);

/**
 * Installs the packed package as npm would, without a registry: the tarball unpacked, beside only the dependencies that
 * its manifest declares.
 *
 * @param wrangler folder of the project's Wrangler. Default: that of this package.
 */
export function install(folder: string, wrangler: string = ownModule("wrangler")): string {
  const target = unpacked(PACKAGE, "sluice", folder);
  const modules = join(folder, "node_modules");
  const manifest = JSON.parse(readFileSync(join(target, "package.json"), "utf8"));
  for (const name of [...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies)]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(name === "wrangler" ? wrangler : ownModule(name), join(modules, name));
  }
  return join(target, manifest.bin.sluice);
}
