import type { Unstable_Config } from "wrangler";
import type { BrokerBase } from "./read/broker.ts";
import type { Project } from "./read/project.ts";
import { projectNameIn } from "./register/project-name.ts";
import {
  type BrokerEntry,
  canonical,
  type ProjectEntry,
  type Register,
  tablesOf,
} from "./register/register.ts";
import type { OwnProject } from "./register/serve-projects.ts";
import { serialisable } from "./wrangler/generated-config.ts";
import { omit } from "./wrangler/relocate.ts";

/** Describes a project for its broker's register, the list of projects that a broker on an account serves. */
export function ownProject(project: Project, { cwd, defaults, option }: OwnProjectOptions): OwnProject {
  const { workers, brokerQueues, names } = project;
  const broker = brokerEntry(project, defaults);
  const entry: ProjectEntry = {
    shares: names.broker !== null || option !== undefined,
    workers: Object.fromEntries(workers.map(({ name, queues }) => [name, tablesOf(queues)])),
    ...(broker === null ? {} : { broker }),
  };
  return {
    name: names.project ?? projectNameIn(cwd),
    entry,
    files: [...workers.map(({ queues }) => queues), ...(brokerQueues === null ? [] : [brokerQueues])],
  };
}

interface OwnProjectOptions {
  /** Absolute path of the command's folder. */
  readonly cwd: string;
  /** Wrangler's reading of an empty configuration. */
  readonly defaults: Unstable_Config;
  /** Value of `--broker`. */
  readonly option?: string | undefined;
}

/** Keys that Sluice sets, or that have a meaning in one checkout only. */
const LOCAL_KEYS = [
  ...(["name", "main", "configPath", "userConfigPath", "topLevelName", "definedEnvironments"] as const),
  ...(["targetEnvironment", "base_dir", "tsconfig", "no_bundle", "find_additional_modules"] as const),
  ...(["dev", "queues"] as const),
] as const;
/** Keys that name files of the checkout. */
const FILE_KEYS = [
  ...(["assets", "site", "build", "alias", "rules", "wasm_modules", "text_blobs", "data_blobs"] as const),
  ...(["containers"] as const),
] as const;

function brokerEntry({ broker, brokerQueues }: Project, defaults: Unstable_Config): BrokerEntry | null {
  if (broker.file === null || broker.wrangler === null || brokerQueues === null) return null;
  const config = serialisable(omit(broker.wrangler, ...LOCAL_KEYS, ...FILE_KEYS), defaults);
  return { queues: tablesOf(brokerQueues), config: canonical(config) };
}

/**
 * Returns the broker with the configuration in the register, whichever project deploys it. A configuration that names
 * files is deployed with them by its own project only.
 */
export function brokerOf(base: BrokerBase, { projects }: Register, defaults: Unstable_Config): BrokerBase {
  const config = Object.values(projects).find(({ broker }) => broker !== undefined)?.broker?.config;
  if (config === undefined) return { ...base, wrangler: null };
  if (base.wrangler !== null && namesFiles(base.wrangler, defaults)) return base;
  return { ...base, wrangler: { ...defaults, ...config } as Unstable_Config };
}

function namesFiles(config: Unstable_Config, defaults: Unstable_Config): boolean {
  const set = serialisable(config, defaults);
  return FILE_KEYS.some((key) => set[key] !== undefined);
}
