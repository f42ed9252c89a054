import { dirname, join } from "node:path";
import type { ConvertedConfig } from "@sluice/config";
import type { Unstable_Config } from "wrangler";
import { CliError } from "../errors.ts";
import {
  isTooOld,
  type TypesOfConfig,
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

/** Message of Wrangler for a file with wrong keys: a line for each, some with the key in a line of its own. */
const INVALID = /^Invalid `(?<name>[^`]+)`:\n(?<issues>[\s\S]+)$/;
const ISSUE = /^\s*[✖•] (?<text>.+)(?:\n\s*→ at (?<key>.+))?/gm;

/**
 * Reads a `cloudflare.config.ts`, and the `wrangler.config.ts` beside it, as `wrangler dev --experimental-new-config`
 * does.
 *
 * @param file absolute path.
 * @param mode mode that it is evaluated in, "" for none.
 * @throws CliError with everything that is wrong, a line each with the file and the key.
 */
export async function readCloudflareConfigFile(file: string, mode: string): Promise<CloudflareReading> {
  const { loadNewConfig, normalizeAndValidateConfig } = neededInternals(file);
  const loaded = await loadNewConfig(optionsOf(file, mode)).catch((error: unknown) => {
    throw new CliError(explained(error, file));
  });
  const { rawConfig, parsedConfig, dependencies } = loaded;
  const triggers = parsedConfig.worker.triggers ?? [];
  const consumerTriggers = triggers.flatMap(({ type }, i) => (type === "queue" ? [i] : []));
  const converted = { root: structuredClone(rawConfig), consumerTriggers };
  // The mode has had its effect.
  const { config, diagnostics } = normalizeAndValidateConfig(rawConfig, file, file, { env: "" });
  if (diagnostics.hasErrors()) throw new CliError(diagnostics.renderErrors());
  const warnings = diagnostics.hasWarnings() ? diagnostics.renderWarnings() : "";
  return { config, warnings, converted, dependencies: [...dependencies] };
}

/**
 * Writes the types of the bindings and of the runtime, `.cloudflare/types/index.d.ts`, where Wrangler writes them and
 * when they have changed: in the current folder. Does nothing for a file of another folder.
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
  const { parsedConfig, types } = await loadNewConfig(optionsOf(file, mode));
  await regenerateNewConfigTypes({
    cloudflareConfigPath: file,
    workerConfig: parsedConfig.worker,
    types: chosen ?? types,
  });
}

function optionsOf(file: string, mode: string) {
  // Where there is no mode, Wrangler takes that of CLOUDFLARE_ENV.
  const env = mode === "" && !process.env.CLOUDFLARE_ENV ? undefined : mode;
  return { cwd: dirname(file), args: { env } };
}

/** @throws CliError for a Node.js or a Wrangler that cannot load the file. */
function neededInternals(file: string) {
  if (!process.features.typescript) {
    throw new CliError(`${file}: Node.js 22.18 or later loads it, and this is ${process.versions.node}.`);
  }
  const { loadNewConfig, normalizeAndValidateConfig } = wranglerInternals();
  const version = wranglerVersion();
  const isNewEnough = !isTooOld(version, CLOUDFLARE_CONFIG_VERSION_MIN);
  if (isNewEnough && loadNewConfig !== undefined && normalizeAndValidateConfig !== undefined) {
    return { loadNewConfig, normalizeAndValidateConfig };
  }
  const which = `${dirname(dirname(wranglerFile()))} is ${version}`;
  throw new CliError(
    isNewEnough
      ? `${file}: Sluice does not know how this Wrangler loads it (${which}).`
      : `${file}: Wrangler ${CLOUDFLARE_CONFIG_VERSION_MIN} or newer loads it, and ${which}. Install another one: ` +
          "npm install --save-dev wrangler@latest",
  );
}

/** Explains why the file cannot be used: each mistake in a line with the file and the key. */
function explained(error: unknown, file: string): string {
  const message = error instanceof Error ? error.message : String(error);
  const { name, issues } = INVALID.exec(message)?.groups ?? {};
  if (name === undefined || issues === undefined) return `${placeIn(error, file)}: ${message}`;
  const lines = [...issues.matchAll(ISSUE)].map(({ groups: { text, key } = {} }) =>
    key === undefined ? text : `${key}: ${text}`,
  );
  return lines.map((line) => `${join(dirname(file), name)}: ${line}`).join("\n");
}

/** Finds the line of one of the user's modules in a stack trace. */
function placeIn(error: unknown, file: string): string {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const [, place, line] = /(?:file:\/\/)?(\/[^\s?()]+)(?:\?[^\s:()]*)?:(\d+)/.exec(stack) ?? [];
  return place?.startsWith(dirname(file)) && !place.includes("/node_modules/") ? `${place}:${line}` : file;
}
