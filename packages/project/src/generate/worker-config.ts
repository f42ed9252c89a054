import { dirname, posix } from "node:path";
import type { Unstable_Config } from "wrangler";
import {
  BROKER_BINDING,
  BROKER_CLASS,
  DIRECTORY_CLASS,
  QUEUES_BINDING,
  QUEUES_DIRECTORY_BINDING,
  USER_MAIN_ALIAS,
} from "../names.ts";
import { consumes, produces, type UserWorker } from "../read/worker.ts";
import type { FrontDoor } from "../runtime/front-door-contract.ts";
import { FLAG_DISALLOW_IMPORTABLE_ENV, flagsWithRpc } from "../wrangler/compatibility.ts";
import { type GeneratedConfig, serialisable } from "../wrangler/generated-config.ts";
import { omit, relativePath, relocate } from "../wrangler/relocate.ts";
import { openFrontDoor } from "./front-door.ts";

interface WorkerConfigInput {
  readonly worker: UserWorker;
  readonly purpose: Purpose;
  /** Name of the broker Worker that the bindings lead to. */
  readonly brokerName: string;
  /** Absolute paths of the configuration's folder and of the command's. */
  readonly directory: string;
  readonly workingDirectory: string;
  /** Configuration that Wrangler makes of an empty one. Values that equal it are not written. */
  readonly defaults: Unstable_Config;
}

interface GeneratedWorkerConfig {
  readonly config: GeneratedConfig;
  /** Module that replaces the user's `main`. */
  readonly entry: EntryShape;
}

type EntryShape =
  /** Nothing is added: the user's module is the entry. */
  | { readonly kind: "untouched" }
  | {
      readonly kind: "generated";
      /** Module specifier by which the entry imports the user's module; `null` where there is none. */
      readonly userMain: string | null;
      /** Whether there are bindings to replace or to hide. */
      readonly hasBindings: boolean;
      /** `null` except for the primary Worker of `sluice dev` and `sluice serve`. */
      readonly frontDoor: FrontDoor | null;
    };

/** The `main` of a generated configuration. It is JavaScript, so that the user's tsconfig does not apply. */
export const ENTRY_FILE = "entry.js";

/**
 * Generates the configuration by which Wrangler runs the user's Worker on the broker. It is Wrangler's reading of the
 * user's file with rewritten paths, so everything except the queues keeps its meaning.
 */
export function generateWorkerConfig(input: WorkerConfigInput): GeneratedWorkerConfig {
  const { worker, purpose, directory, workingDirectory } = input;
  const relocated = relocate(worker.wrangler, { from: worker.directory, to: directory, workingDirectory });
  const named = { ...relocated, name: worker.name, queues: { producers: [], consumers: [] } };
  const needsEntry = produces(worker) || consumes(worker) || isPrimary(purpose);
  const onBroker = withRpc(withBroker(named, input), worker);
  const { config, entry } = needsEntry ? withEntry(onBroker, input) : withUserMain(onBroker, input);
  const written = withoutReadKeys(config, purpose.kind);
  const isSecondary = purpose.kind !== "build" && !purpose.primary;
  // Only the primary Worker sets ports and addresses.
  return { config: serialisable(isSecondary ? omit(written, "dev") : written, input.defaults), entry };
}

function isPrimary(purpose: Purpose): boolean {
  return purpose.kind !== "build" && purpose.primary;
}

function withBroker(
  config: Unstable_Config,
  { worker, purpose, brokerName }: WorkerConfigInput,
): Unstable_Config {
  const queues = { name: QUEUES_BINDING, class_name: BROKER_CLASS, script_name: brokerName };
  const directory = { name: QUEUES_DIRECTORY_BINDING, class_name: DIRECTORY_CLASS, script_name: brokerName };
  const objects = purpose.kind === "build" ? [queues, directory] : [queues];
  const broker = { binding: BROKER_BINDING, service: brokerName };
  return {
    ...config,
    durable_objects: {
      ...config.durable_objects,
      bindings: [...config.durable_objects.bindings, ...(produces(worker) ? objects : [])],
    },
    services: [...(config.services ?? []), ...(isPrimary(purpose) ? [broker] : [])],
  };
}

function withRpc(config: Unstable_Config, worker: UserWorker): Unstable_Config {
  if (!produces(worker) && !consumes(worker)) return config;
  return { ...config, compatibility_flags: [...flagsWithRpc(config)] };
}

/** Removes the flag without which the generated entry cannot replace bindings through the importable `env`. */
function withImportableEnv(config: Unstable_Config): Unstable_Config {
  const flags = config.compatibility_flags.filter((flag) => flag !== FLAG_DISALLOW_IMPORTABLE_ENV);
  return { ...config, compatibility_flags: flags };
}

interface ConfigWithEntry {
  readonly config: Unstable_Config;
  readonly entry: EntryShape;
}

function withUserMain(config: Unstable_Config, { worker, directory }: WorkerConfigInput): ConfigWithEntry {
  const { main } = worker;
  const path = main.kind === "none" ? undefined : relativePath(directory, main.file);
  return { config: { ...config, main: path }, entry: { kind: "untouched" } };
}

function withEntry(
  config: Unstable_Config,
  { worker, purpose, directory }: WorkerConfigInput,
): ConfigWithEntry {
  const { main } = worker;
  const { assets, frontDoor } = isPrimary(purpose)
    ? openFrontDoor(config.assets, main.kind !== "none", purpose.kind === "serve" ? "entry" : "router")
    : { assets: config.assets, frontDoor: null };
  const hasBindings = produces(worker) || isPrimary(purpose);
  const generated: Unstable_Config = {
    ...(hasBindings ? withImportableEnv(config) : config),
    main: `./${ENTRY_FILE}`,
    // Module rules and additional modules are relative to it. Without it, that is the folder of the generated entry.
    base_dir:
      config.base_dir ?? (main.kind === "none" ? undefined : relativePath(directory, dirname(main.file))),
    ...(assets === undefined ? {} : { assets }),
  };
  const userMain = main.kind === "none" ? null : relativePath(directory, main.file);
  // An upload puts our entry at the base, from where relative imports of a main module in a subfolder lead elsewhere.
  const isBuiltBelowBase =
    config.no_bundle === true && userMain !== null && generated.base_dir !== posix.dirname(userMain);
  const keepsModulesApart = config.find_additional_modules === true || config.no_bundle === true;
  if (main.kind === "none" || !keepsModulesApart || isBuiltBelowBase) {
    return {
      config: { ...generated, no_bundle: undefined },
      entry: { kind: "generated", userMain, hasBindings, frontDoor },
    };
  }
  return {
    config: withModulesApart(generated, main.file),
    entry: { kind: "generated", userMain: USER_MAIN_ALIAS, hasBindings, frontDoor },
  };
}

/**
 * Makes the entry import the user's main module by an alias. With `find_additional_modules` Wrangler does not bundle
 * modules that its rules find, and the path to one from our entry is wrong after the upload. An alias is resolved
 * before those rules, so only the main module is bundled into the entry. `no_bundle` is replaced by
 * `find_additional_modules`, because the entry has to be bundled.
 */
function withModulesApart(config: Unstable_Config, userMain: string): Unstable_Config {
  return {
    ...config,
    no_bundle: undefined,
    find_additional_modules: config.find_additional_modules !== false,
    alias: { ...config.alias, [USER_MAIN_ALIAS]: userMain },
  };
}

/** Removes the keys that Wrangler adds to a configuration that it reads, and does not accept in a file. */
export function withoutReadKeys(config: Unstable_Config, purpose: Purpose["kind"]): Partial<Unstable_Config> {
  const written = omit(config, "configPath", "userConfigPath");
  // Only a redirected configuration may name its environment.
  return purpose === "build"
    ? written
    : omit(written, "topLevelName", "definedEnvironments", "targetEnvironment");
}

/** Command for which a configuration is generated. The first Worker that the command names is the primary one. */
export type Purpose =
  /** `sluice dev`: Wrangler gets the file by `-c`; the primary Worker owns the port. */
  | { readonly kind: "dev"; readonly primary: boolean }
  /** `sluice serve`: Wrangler bundles the Workers and Miniflare runs them. Without Workers, Node.js runs the broker. */
  | { readonly kind: "serve"; readonly primary: boolean }
  /** `sluice build`: Wrangler is redirected to the file, in `dev` and `deploy`. */
  | { readonly kind: "build" };
