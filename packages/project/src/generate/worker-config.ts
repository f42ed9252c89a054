import { dirname } from "node:path";
import type { Unstable_Config } from "wrangler";
import { BROKER_BINDING, BROKER_CLASS, QUEUES_BINDING, USER_MAIN_ALIAS } from "../names.ts";
import { consumes, produces, type UserWorker } from "../read/worker.ts";
import type { FrontDoor } from "../runtime/front-door-contract.ts";
import { FLAG_DISALLOW_IMPORTABLE_ENV, flagsWithRpc } from "../wrangler/compatibility.ts";
import { type GeneratedConfig, serialisable } from "../wrangler/generated-config.ts";
import { omit, relativePath, relocate } from "../wrangler/relocate.ts";
import { openFrontDoor } from "./front-door.ts";

export interface WorkerConfigInput {
  readonly worker: UserWorker;
  readonly purpose: Purpose;
  /** Name of the broker Worker that the bindings lead to. */
  readonly brokerName: string;
  /** Folder that the configuration is written into, and the folder that the command runs in. Absolute. */
  readonly directory: string;
  readonly workingDirectory: string;
  /** Configuration that Wrangler makes of an empty one: what equals it need not be written. */
  readonly defaults: Unstable_Config;
}

export interface GeneratedWorkerConfig {
  readonly config: GeneratedConfig;
  /** Module that stands in for the user's `main`. */
  readonly entry: EntryShape;
}

export type EntryShape =
  /** There is nothing to add: the user's own module is the entry. */
  | { readonly kind: "untouched" }
  | {
      readonly kind: "generated";
      /** Module specifier by which the entry imports the user's module; `null` when there is none. */
      readonly userMain: string | null;
      /** Whether there are bindings to replace or to hide. */
      readonly hasBindings: boolean;
      /** `null` except for the primary Worker of `sluice dev` and `sluice serve`. */
      readonly frontDoor: FrontDoor | null;
    };

/** File that a generated configuration names as `main`. JavaScript, so that no tsconfig of the user's is about it. */
export const ENTRY_FILE = "entry.js";

/**
 * The configuration by which Wrangler runs the user's Worker on the broker. Everything that is not about queues means
 * what it meant: the configuration is Wrangler's own reading of the user's file, with its paths rewritten.
 */
export function generateWorkerConfig(input: WorkerConfigInput): GeneratedWorkerConfig {
  const { worker, purpose, directory, workingDirectory } = input;
  const relocated = relocate(worker.wrangler, { from: worker.directory, to: directory, workingDirectory });
  const named = { ...relocated, name: worker.name };
  const needsEntry = produces(worker) || consumes(worker) || isPrimary(purpose);
  const onBroker = withRpc(withBroker(withoutQueues(named), input), worker);
  const { config, entry } = needsEntry ? withEntry(onBroker, input) : withUserMain(onBroker, input);
  const settled = settle(config, purpose.kind);
  const isSecondary = purpose.kind !== "build" && !purpose.primary;
  // Ports and addresses are the primary Worker's to say.
  return { config: serialisable(isSecondary ? omit(settled, "dev") : settled, input.defaults), entry };
}

function isPrimary(purpose: Purpose): boolean {
  return purpose.kind !== "build" && purpose.primary;
}

function withoutQueues(config: Unstable_Config): Unstable_Config {
  return { ...config, queues: { producers: [], consumers: [] } };
}

function withBroker(
  config: Unstable_Config,
  { worker, purpose, brokerName }: WorkerConfigInput,
): Unstable_Config {
  const queues = { name: QUEUES_BINDING, class_name: BROKER_CLASS, script_name: brokerName };
  const broker = { binding: BROKER_BINDING, service: brokerName };
  return {
    ...config,
    durable_objects: {
      ...config.durable_objects,
      bindings: [...config.durable_objects.bindings, ...(produces(worker) ? [queues] : [])],
    },
    services: [...(config.services ?? []), ...(isPrimary(purpose) ? [broker] : [])],
  };
}

function withRpc(config: Unstable_Config, worker: UserWorker): Unstable_Config {
  if (!produces(worker) && !consumes(worker)) return config;
  return { ...config, compatibility_flags: [...flagsWithRpc(config)] };
}

/** The flag would leave the generated entry no way to reach the bindings that it replaces and uses. */
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
    // Module rules and additional modules count from here; left out, it would be the folder of the generated entry.
    base_dir:
      config.base_dir ?? (main.kind === "none" ? undefined : relativePath(directory, dirname(main.file))),
    ...(assets === undefined ? {} : { assets }),
  };
  const userMain = main.kind === "none" ? null : relativePath(directory, main.file);
  const keepsModulesApart = config.find_additional_modules === true || config.no_bundle === true;
  if (main.kind === "none" || !keepsModulesApart) {
    return { config: generated, entry: { kind: "generated", userMain, hasBindings, frontDoor } };
  }
  return {
    config: withModulesApart(generated, main.file),
    entry: { kind: "generated", userMain: USER_MAIN_ALIAS, hasBindings, frontDoor },
  };
}

/**
 * With `find_additional_modules` Wrangler leaves the import of every module that its rules find as it is written, the
 * user's main module among them, and the path from our entry to it means nothing once uploaded. An alias is resolved
 * before those rules are looked at, so the main module alone is bundled into the entry, and what it imports is left as
 * it was. `no_bundle` becomes the same thing: the entry itself has to be bundled.
 */
function withModulesApart(config: Unstable_Config, userMain: string): Unstable_Config {
  return {
    ...config,
    no_bundle: undefined,
    find_additional_modules: config.find_additional_modules !== false,
    alias: { ...config.alias, [USER_MAIN_ALIAS]: userMain },
  };
}

/** Drops what only one of the two ways to hand Wrangler a configuration allows. */
export function settle(config: Unstable_Config, purpose: Purpose["kind"]): Partial<Unstable_Config> {
  const anywhere = omit(config, "configPath", "userConfigPath");
  // Which environment this was is something that Wrangler asks redirected configurations only.
  return purpose === "build"
    ? anywhere
    : omit(anywhere, "topLevelName", "definedEnvironments", "targetEnvironment");
}

/** Command that a configuration is generated for. */
export type Purpose =
  /** `sluice dev`: Wrangler is given the file with `-c`; the primary Worker owns the port. */
  | { readonly kind: "dev"; readonly primary: boolean }
  /**
   * `sluice serve`: the same, but Wrangler bundles it and Miniflare runs it; where no Worker is, Node.js runs the
   * broker.
   */
  | { readonly kind: "serve"; readonly primary: boolean }
  /** `sluice build`: Wrangler is redirected to the file, in `dev` and `deploy`. */
  | { readonly kind: "build" };
