import { readFileSync } from "node:fs";
import module, { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Unstable_Config } from "wrangler";
import { CliError } from "../errors.ts";

/** The oldest supported Wrangler. `package.json` has the same version. */
export const WRANGLER_VERSION_MIN = "4.60.0";
/**
 * The oldest Wrangler whose processes can share a broker. With older ones a process cannot call the Durable Objects of
 * another process by RPC (https://github.com/cloudflare/workers-sdk/pull/12600).
 */
export const SHARING_VERSION_MIN = "4.84.0";

/** Requirement for Wrangler. */
export interface WranglerNeed {
  /** Subject of the error text, such as `Sluice`. */
  readonly who: string;
  /** Oldest version that is accepted. */
  readonly oldest: string;
  /**
   * Called with a sentence if the project's Wrangler is too old and another one runs instead. Default: a Wrangler that
   * is too old is refused.
   */
  readonly onReplaced?: (text: string) => void;
}

const COMMANDS: WranglerNeed = { who: "Sluice", oldest: WRANGLER_VERSION_MIN };

/** Makes the requirement of a command that runs another Wrangler, with a notice, where the project's is too old. */
export function anyWrangler(onReplaced: (text: string) => void): WranglerNeed {
  return { ...COMMANDS, onReplaced };
}

/** Functions that Wrangler does not export; `undefined` for those that its version does not have. */
export interface WranglerInternals {
  /** Runs a command line. */
  readonly main?: (args: readonly string[]) => Promise<void>;
  /** Loads the `cloudflare.config.ts` and `wrangler.config.ts` of a folder, and converts them. */
  readonly loadNewConfig?: (options: {
    readonly cwd: string;
    readonly args: { readonly env: string | undefined };
  }) => Promise<LoadedConfig>;
  /** Converts a parsed `cloudflare.config.ts` to a configuration of Wrangler. */
  readonly convertToWranglerConfig?: (config: object) => Readonly<Record<string, unknown>>;
  /** Reads a parsed configuration. `unstable_readConfig` uses it. */
  readonly normalizeAndValidateConfig?: (
    raw: object,
    file: string,
    userFile: string,
    args: { readonly env: string | undefined },
  ) => { readonly config: Unstable_Config; readonly diagnostics: Diagnostics };
  /** Writes `.cloudflare/types/index.d.ts` in the current folder. */
  readonly regenerateNewConfigTypes?: (options: TypesOfConfig) => Promise<void>;
}

/** A configuration as `loadNewConfig` returns it. */
export interface LoadedConfig {
  readonly rawConfig: Readonly<Record<string, unknown>>;
  readonly parsedConfig: {
    readonly worker: TypesOfConfig["workerConfig"] & {
      readonly triggers?: readonly { readonly type: string }[];
    };
  };
  /** Absolute paths of the modules that it consists of. */
  readonly dependencies: ReadonlySet<string>;
  readonly types: TypesOfConfig["types"];
}

export interface TypesOfConfig {
  readonly cloudflareConfigPath: string;
  readonly workerConfig: {
    readonly compatibilityDate: string;
    readonly compatibilityFlags?: readonly string[];
  };
  readonly types: { readonly generate: boolean; readonly includeRuntime: boolean };
}

/** Errors and warnings of a configuration, and of its environments. */
export interface Diagnostics {
  readonly warnings: readonly string[];
  readonly children: readonly Diagnostics[];
  hasErrors(): boolean;
  renderErrors(): string;
  hasWarnings(): boolean;
  renderWarnings(): string;
}

/** Wrangler's module. It has its internals unless other code has loaded it first. */
export type Wrangler = typeof import("wrangler") & { readonly [INTERNALS]?: WranglerInternals };

const INTERNALS = "__sluiceInternals";
const NAMES = [
  "main",
  "loadNewConfig",
  "convertToWranglerConfig",
  "normalizeAndValidateConfig",
  "regenerateNewConfigTypes",
] as const satisfies readonly (keyof WranglerInternals)[];
/** Code that is appended to the module, in whose scope the internals are. */
const EXPORT_INTERNALS = `
Object.defineProperty(exports, "${INTERNALS}", { value: {
${NAMES.map((name) => `  ${name}: typeof ${name} === "function" ? ${name} : undefined,\n`).join("")}} });
`;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

let folders: readonly string[] = [];
let need = COMMANDS;
let file: string | null = null;
let loaded: Wrangler | null = null;
let internals: WranglerInternals | null = null;

/**
 * Sets the folders in which Wrangler is looked for. The first one with a Wrangler counts, else the Wrangler beside this
 * package. Has no effect once Wrangler has been found.
 */
export function takeWranglerOf(projectFolders: readonly string[], its = COMMANDS): void {
  folders = projectFolders.map((folder) => resolve(folder));
  need = its;
}

/**
 * Returns the absolute path of the main module of the user's Wrangler.
 *
 * @throws CliError where there is none, or one that is too old.
 */
export function wranglerFile(): string {
  file ??= findWrangler(folders, import.meta.filename, need);
  return file;
}

/** @throws CliError where there is none, or one that is too old. */
export function wranglerVersion(): string {
  return requireOfWrangler<{ readonly version: string }>("wrangler/package.json").version;
}

/** Loads a package that Wrangler depends on, in Wrangler's version of it: Miniflare, for instance, has to match. */
export function requireOfWrangler<T>(name: string): T {
  return nodeModule().createRequire(wranglerFile())(name) as T;
}

/**
 * Loads the user's Wrangler, once. It uses `require`, since an `import` would take 0.3 s longer, in which Node.js looks
 * for the names of exports in 15 MB of code.
 *
 * @throws CliError where there is none, or one that is too old.
 */
export function loadWrangler(): Wrangler {
  loaded ??= load(wranglerFile());
  return loaded;
}

/**
 * Sets the Wrangler of this process.
 *
 * @param path absolute path of its main module.
 */
export function takeWrangler(path: string): void {
  file = path;
}

/**
 * Returns Wrangler's internals. Its module is loaded once more if other code has loaded it first, as Vitest does whose
 * other projects use it.
 *
 * @throws CliError where there is no Wrangler, or one that is too old.
 */
export function wranglerInternals(): WranglerInternals {
  internals ??= loadWrangler()[INTERNALS] ?? internalsOfCopy(wranglerFile());
  return internals;
}

function internalsOfCopy(path: string): WranglerInternals {
  const { cache } = nodeModule().createRequire(path);
  const { [path]: theirs } = cache;
  delete cache[path];
  try {
    return load(path)[INTERNALS] ?? {};
  } finally {
    cache[path] = theirs;
  }
}

/**
 * Loads Wrangler's module and makes it export its internals. Bun has no hooks for that. Older Wranglers, such as
 * 4.86, listen to signals once they are loaded, and end the process at once: these listeners are removed.
 */
function load(path: string): Wrangler {
  const before = SIGNALS.map((signal) => process.listeners(signal));
  const its = pathToFileURL(path).href;
  const hooks = nodeModule().registerHooks?.({
    load(url, context, next) {
      const result = next(url, context);
      return url === its
        ? { ...result, source: `${result.source ?? readFileSync(path)}${EXPORT_INTERNALS}` }
        : result;
    },
  });
  try {
    return requireOfWrangler<Wrangler>(path);
  } finally {
    hooks?.deregister();
    for (const [i, signal] of SIGNALS.entries())
      for (const listener of process.listeners(signal))
        if (before[i]?.includes(listener) !== true) process.off(signal, listener);
  }
}

/**
 * Returns Node.js's own module loader. Jest replaces it by one in which Wrangler does not recognise Node.js's errors,
 * but leaves `_load`. Bun's `_load` returns nothing.
 */
function nodeModule(): typeof module {
  const { _load: load } = module as unknown as { _load(name: string): typeof module | undefined };
  return load("node:module") ?? module;
}

/** Returns the exit code for an error of Wrangler's `main`, which has printed the reason. */
export function exitCodeOf(error: unknown): number {
  const code =
    error instanceof Error && error.constructor.name === "FatalError" && Reflect.get(error, "code");
  return typeof code === "number" && code !== 0 ? code : 1;
}

/**
 * Finds a Wrangler in folders, and returns the absolute path of its main module.
 *
 * @param beside file beside which Wrangler is looked for last. Default: this module.
 * @throws CliError where there is none, or one that is too old.
 */
export function findWrangler(
  projectFolders: readonly string[],
  beside: string = import.meta.filename,
  { who, oldest, onReplaced }: WranglerNeed = COMMANDS,
): string {
  let refusal: string | null = null;
  for (const place of [...projectFolders.map((folder) => join(folder, "package.json")), beside]) {
    const require = createRequire(place);
    const manifest = resolved(require, "wrangler/package.json");
    if (manifest === null) continue;
    const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
    if (!isTooOld(version, oldest)) {
      if (refusal !== null)
        onReplaced?.(`${refusal} Wrangler ${version} of ${dirname(manifest)} runs instead.`);
      return require.resolve("wrangler");
    }
    refusal ??= `${who} needs Wrangler ${oldest} or newer, and ${dirname(manifest)} is ${version}.`;
    if (onReplaced === undefined) break;
  }
  if (refusal !== null) {
    throw new CliError(`${refusal} Install another one: npm install --save-dev wrangler@latest`);
  }
  throw new CliError(
    "Sluice runs Workers with the Wrangler of your project, and there is none. Install it: " +
      "npm install --save-dev wrangler",
  );
}

function resolved(require: NodeJS.Require, name: string): string | null {
  try {
    return require.resolve(name);
  } catch {
    return null;
  }
}

export function isTooOld(version: string, oldest: string = WRANGLER_VERSION_MIN): boolean {
  const numbers = (of: string) => of.split(".", 3).map((part) => Number.parseInt(part, 10));
  const least = numbers(oldest);
  const differences = numbers(version).map((number, i) => number - (least[i] ?? 0));
  return (differences.find((difference) => difference !== 0) ?? 0) < 0;
}
