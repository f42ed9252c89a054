import { existsSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import type { ConvertedConfig } from "@sluice/config";
import type { Unstable_Config } from "wrangler";
import { CliError } from "../errors.ts";
import { findAbove } from "../folders.ts";
import { noteModule, placeIn, reasonOf } from "./late-errors.ts";
import {
  isTooOld,
  type LoadedConfig,
  type TypesOfConfig,
  type WranglerInternals,
  wranglerFile,
  wranglerInternals,
  wranglerVersion,
} from "./load-wrangler.ts";

/** The first Wrangler that reads a `cloudflare.config.ts` as `cf` does. */
export const CLOUDFLARE_CONFIG_VERSION_MIN = "4.136.0";

/** A `cloudflare.config.ts` as Wrangler reads it. */
export interface CloudflareReading {
  readonly config: Unstable_Config;
  /** Warnings of Wrangler, with its own keys; empty when it had none. */
  readonly warnings: string;
  /** Content with keys of Wrangler, before defaults are filled in. */
  readonly converted: ConvertedConfig;
  /** Absolute paths of the modules that it consists of. */
  readonly dependencies: readonly string[];
}

/** Message of Wrangler for a file with wrong keys. Each issue has a line, some have the key on a second line. */
const INVALID = /^Invalid `(?<name>[^`]+)`:\n(?<issues>[\s\S]+)$/;
const ISSUE = /^\s*[✖•] (?<text>.+)(?:\n\s*→ at (?<key>.+))?/gm;

/** Issue in such a message for settings of Sluice among those of the Worker. */
const UNKNOWN_OWN_TABLE = 'Unrecognized key: "sluice"';
/** An `export const sluice`, which neither Wrangler nor Sluice reads. */
const EXPORTS_OWN_TABLE = /^export\s+(?:const|let|var)\s+sluice\b/m;
const OWN_TABLE_PLACE =
  "The settings of Sluice go into the [sluice] table of a wrangler.toml beside this file that holds nothing else.";

/** Last reading of each file in a mode, so that types are written without running the file again. */
const readBefore = new Map<string, LoadedConfig>();
const keyOf = (file: string, mode: string) => JSON.stringify([file, mode]);

/**
 * Reads a `cloudflare.config.ts`, and the `wrangler.config.ts` beside it, as `wrangler dev --experimental-new-config`
 * does.
 *
 * @param file absolute path.
 * @param mode mode in which it is evaluated, "" for none.
 * @throws CliError with a line for each mistake, which names the file and the key.
 */
export async function readCloudflareConfigFile(file: string, mode: string): Promise<CloudflareReading> {
  if (!process.features.typescript) {
    throw new CliError(`${file}: Node.js 22.18 or later loads it, and this is ${process.versions.node}.`);
  }
  const { loadNewConfig, normalizeAndValidateConfig } = neededInternals(file);
  if (EXPORTS_OWN_TABLE.test(readFileSync(file, "utf8"))) throw new CliError(`${file}: ${OWN_TABLE_PLACE}`);
  noteModule(file, readBefore.get(keyOf(file, mode))?.dependencies ?? []);
  const loaded = await loadNewConfig(optionsOf(file, mode)).catch((error: unknown) => {
    throw new CliError(explained(error, file));
  });
  readBefore.set(keyOf(file, mode), loaded);
  const { rawConfig, parsedConfig, dependencies } = loaded;
  return normalized(file, rawConfig, parsedConfig.worker.triggers, dependencies, normalizeAndValidateConfig);
}

/**
 * Reads a Worker of Build Output, which `cf build` and `vite build` write.
 *
 * @param file absolute path of its `worker.config.json`.
 * @throws CliError for one that cannot be used.
 */
export async function readBuildOutputFile(file: string): Promise<CloudflareReading> {
  const internals = neededInternals(file);
  try {
    return buildOutput(file, internals);
  } catch (error) {
    if (error instanceof CliError) throw error;
    // Wrangler's converter does not validate its input, so it throws errors of any kind.
    throw new CliError(`${file}: Build Output that cannot be used (${reasonOf(error)}). Build it again.`);
  }
}

function buildOutput(
  file: string,
  { convertToWranglerConfig, normalizeAndValidateConfig }: ReturnType<typeof neededInternals>,
): CloudflareReading {
  const directory = dirname(file);
  const { settings = {} } = readJson<{ readonly settings?: object }>(join(directory, "../../config.json"));
  const { manifest, ...worker } = readJson<BuildOutputWorker>(file);
  const containers = join(directory, "../../containers");
  if (existsSync(containers)) {
    throw new CliError(
      `${containers}: Sluice runs no containers of Build Output. Name the project's sources.`,
    );
  }
  const raw = convertToWranglerConfig({ ...settings, worker });
  const all = {
    ...raw,
    ...(manifest === undefined ? {} : modulesOf(manifest, file)),
    ...(existsSync(join(directory, "assets"))
      ? { assets: { ...(raw.assets as object | undefined), directory: "assets" } }
      : {}),
  };
  return normalized(file, all, worker.triggers, [], normalizeAndValidateConfig);
}

/** Content of a `worker.config.json`. A contract of Cloudflare's, in the version 1 of Build Output. */
interface BuildOutputWorker {
  readonly triggers?: readonly { readonly type: string }[];
  readonly manifest?: Manifest;
}

interface Manifest {
  readonly type: "complete" | "partial";
  readonly mainModule: string;
  readonly modules: Readonly<Record<string, { readonly type: string }>>;
}

/** Wrangler's rule types by the module types of a manifest. For others Wrangler has none, or Sluice cannot run them. */
const MODULE_TYPES: Readonly<Record<string, string>> = {
  esm: "ESModule",
  cjs: "CommonJS",
  wasm: "CompiledWasm",
  text: "Text",
  data: "Data",
};

/** Makes the keys with which Wrangler uses the modules of a build unchanged. Their names are paths below `bundle`. */
function modulesOf({ type, mainModule, modules }: Manifest, file: string) {
  for (const [name, { type: manifestType }] of Object.entries(modules)) {
    if (Object.hasOwn(MODULE_TYPES, manifestType) || manifestType === "sourcemap") continue;
    throw new CliError(`${file}: Sluice runs no module of type ${manifestType} (${name}).`);
  }
  const rules = Object.entries(MODULE_TYPES).flatMap(([manifestType, wranglerType]) => {
    const named = Object.keys(modules).filter((name) => modules[name]?.type === manifestType);
    // A partial manifest does not list JavaScript modules.
    const isUnlisted = type === "partial" && manifestType === "esm";
    const globs = isUnlisted ? ["**/*.js", "**/*.mjs"] : [...new Set(named.map(globOf))];
    // Without `fallthrough` Wrangler warns that its own rules of the type are not used.
    return globs.length === 0 ? [] : [{ type: wranglerType, globs, fallthrough: false }];
  });
  return { main: `bundle/${mainModule}`, base_dir: "bundle", no_bundle: true, rules };
}

/** Makes the glob of a module. Wrangler matches it with paths of files and with import specifiers, as `../a.txt`. */
function globOf(name: string): string {
  return `**/${posix.basename(name)}`;
}

function readJson<T>(file: string): T {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as T;
  } catch (error) {
    throw new CliError(`${file} cannot be read: ${error instanceof Error ? error.message : error}`);
  }
}

function normalized(
  file: string,
  raw: Readonly<Record<string, unknown>>,
  triggers: readonly { readonly type: string }[] | undefined,
  dependencies: Iterable<string>,
  normalizeAndValidateConfig: NonNullable<WranglerInternals["normalizeAndValidateConfig"]>,
): CloudflareReading {
  const consumerTriggers = (triggers ?? []).flatMap(({ type }, i) => (type === "queue" ? [i] : []));
  // A copy, because Wrangler changes `raw` while it normalizes it.
  const converted = { root: structuredClone(raw), consumerTriggers };
  // No environment: the mode has had its effect when the file was run.
  const { config, diagnostics } = normalizeAndValidateConfig(raw, file, file, { env: "" });
  if (diagnostics.hasErrors()) throw new CliError(diagnostics.renderErrors());
  const warnings = diagnostics.hasWarnings() ? diagnostics.renderWarnings() : "";
  return { config, warnings, converted, dependencies: [...dependencies] };
}

/**
 * Writes the types of the bindings and of the runtime to `.cloudflare/types/index.d.ts` in the current folder, if they
 * have changed, as Wrangler does. Does nothing for a file of another folder. A file that has been read is not run
 * again.
 *
 * @param chosen types to write. Default: as in the `wrangler.config.ts`, else all.
 */
export async function writeCloudflareTypes(
  file: string,
  mode: string,
  chosen?: TypesOfConfig["types"],
): Promise<void> {
  if (dirname(file) !== process.cwd()) return;
  const { loadNewConfig, regenerateNewConfigTypes } = wranglerInternals();
  if (loadNewConfig === undefined || regenerateNewConfigTypes === undefined) return;
  const loaded = readBefore.get(keyOf(file, mode)) ?? (await loadNewConfig(optionsOf(file, mode)));
  const { parsedConfig, types } = loaded;
  await regenerateNewConfigTypes({
    cloudflareConfigPath: file,
    workerConfig: parsedConfig.worker,
    types: chosen ?? types,
  });
}

function optionsOf(file: string, mode: string) {
  // Without `env` Wrangler uses CLOUDFLARE_ENV. An empty `env` prevents that.
  const env = mode === "" && !process.env.CLOUDFLARE_ENV ? undefined : mode;
  return { cwd: dirname(file), args: { env } };
}

/** @throws CliError for a Wrangler that cannot load the file. */
function neededInternals(file: string) {
  const { loadNewConfig, convertToWranglerConfig, normalizeAndValidateConfig } = wranglerInternals();
  const version = wranglerVersion();
  const isNewEnough = !isTooOld(version, CLOUDFLARE_CONFIG_VERSION_MIN);
  if (isNewEnough && loadNewConfig && convertToWranglerConfig && normalizeAndValidateConfig) {
    return { loadNewConfig, convertToWranglerConfig, normalizeAndValidateConfig };
  }
  const which = `${dirname(dirname(wranglerFile()))} is ${version}`;
  throw new CliError(
    isNewEnough
      ? `${file}: Sluice does not know how this Wrangler loads it (${which}).`
      : `${file}: Wrangler ${CLOUDFLARE_CONFIG_VERSION_MIN} or newer loads it, and ${which}. Install another one: ` +
          "npm install --save-dev wrangler@latest",
  );
}

/** Explains why the file cannot be used: a line for each mistake, with the file and the key. */
function explained(error: unknown, file: string): string {
  const message = reasonOf(error);
  const { name, issues } = INVALID.exec(message)?.groups ?? {};
  if (name === undefined || issues === undefined) {
    const commonJs = error instanceof SyntaxError ? commonJsPackageOf(file) : null;
    return commonJs === null
      ? `${placeIn(error, file)}: ${message}`
      : `${file}: it is an ES module, and ${commonJs} says that it is not. Change "type": "commonjs" there to ` +
          '"type": "module".';
  }
  const lines = [...issues.matchAll(ISSUE)].map(({ groups: { text, key } = {} }) =>
    text === UNKNOWN_OWN_TABLE ? OWN_TABLE_PLACE : key === undefined ? text : `${key}: ${text}`,
  );
  // Never empty, whatever Wrangler's next version marks its lines with.
  return (lines.length === 0 ? [issues] : lines)
    .map((line) => `${join(dirname(file), name)}: ${line}`)
    .join("\n");
}

/** Finds the `package.json` that makes a module one of CommonJS for Node.js; `null` where none does. */
function commonJsPackageOf(file: string): string | null {
  const manifest = findAbove(dirname(file), (folder) => {
    const path = join(folder, "package.json");
    return existsSync(path) ? path : null;
  });
  if (manifest === null) return null;
  return readJson<{ readonly type?: unknown }>(manifest).type === "commonjs" ? manifest : null;
}
