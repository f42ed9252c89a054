import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { otherWrangler } from "sluice/test/others";
import { unpacked } from "sluice/test/pack";
import { WRANGLER_VERSION_MIN } from "../src/runtime/prepare.ts";

export const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
export const TSC = fileURLToPath(new URL("../../../node_modules/typescript/bin/tsc", import.meta.url));

/** Wranglers that this package is tested with. */
export type Wrangler = "wrangler" | "oldest";

/**
 * Copies a fixture out of the workspace and installs the packed package as npm would, without a registry: the archive
 * unpacked, beside only the dependencies that its manifest declares.
 *
 * @param options `beside`: further packages of the project.
 * @returns its folder.
 */
export function installedProject(
  fixture: string,
  { beside, wrangler = "wrangler" }: { readonly beside: readonly string[]; readonly wrangler?: Wrangler },
): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "sluice-testing-project-"));
  cpSync(fileURLToPath(new URL(`fixtures/${fixture}`, import.meta.url)), folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const target = unpacked(PACKAGE, "@sluice/testing", folder);
  const modules = join(folder, "node_modules");
  const { dependencies } = JSON.parse(readFileSync(join(target, "package.json"), "utf8"));
  for (const name of [...Object.keys(dependencies), "wrangler", ...beside]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    const isOldest = name === "wrangler" && wrangler === "oldest";
    const installed = isOldest ? otherWrangler(WRANGLER_VERSION_MIN) : join(PACKAGE, "node_modules", name);
    symlinkSync(realpathSync(installed), join(modules, name));
  }
  return folder;
}
