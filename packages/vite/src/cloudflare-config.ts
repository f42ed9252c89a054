import { spawnSync } from "node:child_process";
import { existsSync, utimesSync, watch } from "node:fs";
import { dirname, extname, join, resolve } from "node:path";
import type { PluginConfig } from "@cloudflare/vite-plugin";
import { CLOUDFLARE_CONFIG, CONFIG_FILE_NAMES, type ConvertedConfig } from "@sluice/config";
import { type FileWatch, watchFiles } from "@sluice/local/generation/watch";
import { nameSecrets } from "@sluice/local/report/name-secrets";
import { CliError } from "@sluice/project/errors";
import { placeSecrets } from "@sluice/project/files/secrets";
import { makeOutputFolder, OUTPUT_FOLDER, writeIfChanged } from "@sluice/project/files/write-plan";
import { ownModule } from "@sluice/project/own-module";
import { CONVERTED_FD, type Conversion, type ConversionInput } from "./conversion-contract.ts";
import { type PersistState, takeData } from "./data.ts";
import { pluginFolder } from "./plugin-version.ts";
import { SCRIPTS } from "./scripts.ts";

/** A `cloudflare.config.ts` that Cloudflare's plugin gets as a Wrangler configuration. */
export interface CloudflareConfig {
  /** Absolute paths of it and of the Wrangler configuration that is made of it. */
  readonly file: string;
  readonly configPath: string;
  readonly converted: ConvertedConfig;
  readonly mode: string;
}

const CONVERTER = ownModule(new URL("./converter.ts", import.meta.url), "converter.js");
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
/** Files of variables beside the configuration, whose change restarts Vite as one of the configuration does. */
const VARIABLES = [".dev.vars", ".env", ".env.local"];

let changes: FileWatch | null = null;
let namedSecrets: Disposable | null = null;

/**
 * Reads the `cloudflare.config.ts` of the current folder, which has to be Vite's root, and writes what Wrangler
 * converts it to. Cloudflare's plugin allows no Workers besides one that is configured by `experimental.newConfig`.
 *
 * @param newConfig that option; `null` where it is not set.
 * @param persistState folder of the data, which is taken before anything is written.
 * @throws CliError for a file that cannot be used, DataInUseError if another process has the data.
 */
export function takeCloudflareConfig(
  newConfig: NonNullable<PluginConfig["experimental"]>["newConfig"] | null,
  persistState: PersistState,
): CloudflareConfig | null {
  if (!newConfig) return null;
  const root = process.cwd();
  const file = join(root, CLOUDFLARE_CONFIG);
  if (!existsSync(file)) {
    throw new CliError(
      `There is no ${CLOUDFLARE_CONFIG} in ${root}. sluice() looks for it in the folder that Vite is started in.`,
    );
  }
  const { generate = true, includeRuntime = true } = (newConfig === true ? {} : newConfig.types) ?? {};
  const mode = modeOf(process.argv);
  const plugin = pluginFolder(root);
  // The plugin's own Wrangler reads the configuration.
  const wranglerFolders = plugin === null ? [root] : [plugin, root];
  const { converted, dependencies } = convert({
    file,
    mode,
    types: { generate, includeRuntime },
    wranglerFolders,
  });
  takeData(persistState, root);
  const configPath = write(root, converted, mode);
  const beside = [...CONFIG_FILE_NAMES, ...variableFiles()].map((name) => join(root, name));
  restartOn([...dependencies, ...beside], configPath);
  return { file, configPath, converted, mode };
}

/**
 * Returns the mode of Vite that a command line names. Vite passes its mode to plugins, but not to `sluice()`.
 *
 * @param argv `process.argv`.
 */
export function modeOf(argv: readonly string[]): string {
  const at = argv.findIndex((argument) => /^(?:--mode|-m)(?:=|$)/.test(argument));
  const [, assigned] = /=(.*)/.exec(argv[at] ?? "") ?? [];
  return assigned ?? (at === -1 ? undefined : argv[at + 1]) ?? "development";
}

function convert(input: ConversionInput) {
  const { stderr, output, status } = spawnSync(
    process.execPath,
    ["--no-warnings", CONVERTER, JSON.stringify(input)],
    {
      cwd: dirname(input.file),
      env: { ...process.env, CLOUDFLARE_ENV: "" },
      stdio: ["ignore", "inherit", "pipe", "pipe", 2],
      encoding: "utf8",
      maxBuffer: ANSWER_BYTES_MAX,
    },
  );
  const [answer] = (output ?? []).slice(CONVERTED_FD);
  if (!answer) throw new Error(`${input.file} cannot be read (${status}):\n${stderr}`);
  const conversion = JSON.parse(answer) as Conversion;
  if ("error" in conversion) throw new CliError(conversion.error);
  return conversion;
}

/** Writes a Wrangler configuration beside links to the files of variables; paths in it are absolute. */
function write(root: string, { root: raw }: ConvertedConfig, mode: string): string {
  const env = process.env.CLOUDFLARE_ENV ?? "";
  // One folder for each mode and environment: two Vites with one folder would restart each other for ever.
  const directory = join(root, OUTPUT_FOLDER, "vite-config", env === "" ? mode : `${mode}.${env}`);
  const { main } = raw;
  const config = {
    ...raw,
    ...(typeof main === "string" && SCRIPTS.has(extname(main)) ? { main: resolve(root, main) } : {}),
  };
  // Cloudflare's plugin reads the configuration for that environment, and the mode has had its effect already.
  const all = env === "" ? config : { ...config, env: { [env]: config } };
  makeOutputFolder(join(root, OUTPUT_FOLDER));
  const configPath = join(directory, "wrangler.json");
  writeIfChanged(configPath, `${JSON.stringify(all, null, 2)}\n`);
  placeSecrets(root, directory, env);
  namedSecrets?.[Symbol.dispose]();
  namedSecrets = nameSecrets({ directory, userDirectory: root, env });
  return configPath;
}

function variableFiles(): readonly string[] {
  const env = process.env.CLOUDFLARE_ENV;
  return env ? [...VARIABLES, `.dev.vars.${env}`, `.env.${env}`, `.env.${env}.local`] : VARIABLES;
}

/**
 * Restarts Vite when one of the files changes: Cloudflare's plugin watches the configuration that it was given, and a
 * restart reads the others again.
 */
function restartOn(files: readonly string[], configPath: string): void {
  changes?.close();
  changes = watchFiles(
    () => utimesSync(configPath, new Date(), new Date()),
    (text) => console.warn(text),
    // A program that only reads Vite's configuration must be able to end.
    (folder, onEvent) => watch(folder, onEvent).unref(),
  );
  changes.set(files.map((path) => ({ kind: "file", path })));
}
