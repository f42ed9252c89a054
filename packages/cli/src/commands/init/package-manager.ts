import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** A package manager, with its arguments to add a development dependency. */
export interface PackageManager {
  readonly name: "npm" | "pnpm" | "yarn" | "bun";
  readonly add: readonly string[];
}

const MANAGERS = {
  npm: { name: "npm", add: ["install", "--save-dev"] },
  pnpm: { name: "pnpm", add: ["add", "--save-dev"] },
  yarn: { name: "yarn", add: ["add", "--dev"] },
  bun: { name: "bun", add: ["add", "--dev"] },
} as const satisfies Record<string, PackageManager>;

const LOCK_FILES = [
  ["package-lock.json", "npm"],
  ["npm-shrinkwrap.json", "npm"],
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
] as const;

/**
 * Finds the package manager of a project: by the nearest lock file in its folder or above, else by its
 * `packageManager`, else npm.
 *
 * @param declared `packageManager` of the project's manifest.
 */
export function packageManagerOf(folder: string, declared: unknown): PackageManager {
  for (let at = folder; ; at = dirname(at)) {
    const found = LOCK_FILES.find(([file]) => existsSync(join(at, file)));
    if (found !== undefined) return MANAGERS[found[1]];
    if (dirname(at) === at) break;
  }
  const [name = ""] = typeof declared === "string" ? declared.split("@") : [];
  return Object.values(MANAGERS).find((manager) => manager.name === name) ?? MANAGERS.npm;
}
