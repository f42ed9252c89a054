import { dirname, join } from "node:path";
import {
  CONFIG_FILE_NAMES,
  inWordsOfCloudflareConfig,
  isCloudflareConfig,
  queuesOnly,
  type ReadModules,
  readCloudflareConfig,
  readWorkerConfig,
  type WorkerQueueConfig,
} from "@sluice/config";
import type { CloudflareReading } from "../wrangler/cloudflare-config.ts";
import {
  type ReadOptions,
  readBuildOutputFile,
  readCloudflareConfigFile,
  readWranglerConfig,
  type WranglerReading,
} from "../wrangler/wrangler-config.ts";
import { projectOfOutput } from "./build-output.ts";

/** Names of files beside a `cloudflare.config.ts` that belong to it. */
const BESIDE = ["wrangler.config.ts", ...CONFIG_FILE_NAMES];

/** Lists the files, absent ones too, that belong to a `cloudflare.config.ts` of a folder. */
export function filesBeside(folder: string): string[] {
  return BESIDE.map((name) => join(folder, name));
}

/** Reads configurations of all kinds, each `cloudflare.config.ts` once: to read it runs it. */
export class ConfigReader {
  readonly #modules = new Map<string, Promise<CloudflareReading>>();
  /** Files that queues are in besides. */
  readonly #more = new Set<string>();

  /**
   * Reads the queues of a configuration, by our own rules.
   *
   * @param env environment, "" for the top level; the mode of a `cloudflare.config.ts`.
   * @throws ConfigError or CliError for one that cannot be used.
   */
  async queues(file: string, env: string): Promise<WorkerQueueConfig> {
    const reading = this.#converted(file, env);
    if (reading === null) return this.#noted(readWorkerConfig(file, { env }));
    const { converted } = await reading;
    return this.#noted(readCloudflareConfig(file, converted, env, projectOfOutput(file) ?? dirname(file)));
  }

  /**
   * Reads the queues of a configuration of another process, without running it: of a `cloudflare.config.ts` counts what
   * that process has read.
   *
   * @returns `null` where that is not known.
   * @throws ConfigError or CliError for one that cannot be used.
   */
  async queuesElsewhere(file: string, env: string, modules: ReadModules): Promise<WorkerQueueConfig | null> {
    if (!isCloudflareConfig(file)) return this.queues(file, env);
    const module = Object.hasOwn(modules, file) ? modules[file] : undefined;
    return module === undefined ? null : this.#noted(readCloudflareConfig(file, module, env));
  }

  /** Reads everything of a configuration, as Wrangler does. */
  async wrangler(file: string, options: ReadOptions): Promise<WranglerReading> {
    const reading = this.#converted(file, options.env);
    if (reading === null) return readWranglerConfig(file, options);
    const { config, warnings, converted } = await reading;
    return { config, warnings: inWordsOfCloudflareConfig(warnings, converted) };
  }

  /** Collects the queues of each `cloudflare.config.ts` that could be read, for other processes. */
  async modules(): Promise<ReadModules> {
    const read = [...this.#modules].filter(([file]) => isCloudflareConfig(file));
    const entries = read.map(([file, reading]) =>
      reading.then(({ converted }) => [[file, queuesOnly(converted)] as const]).catch(() => []),
    );
    return Object.fromEntries((await Promise.all(entries)).flat());
  }

  /** Lists further files, absent ones too, whose change can change the result of the next reading. */
  async dependencies(): Promise<string[]> {
    const read = [...this.#modules].map(async ([file, reading]) => [
      ...filesBeside(projectOfOutput(file) ?? dirname(file)),
      ...(await reading.then(({ dependencies }) => dependencies).catch(() => [])),
    ]);
    return [...new Set([...(await Promise.all(read)).flat(), ...this.#more])];
  }

  #noted(queues: WorkerQueueConfig): WorkerQueueConfig {
    for (const file of queues.dependencies ?? []) this.#more.add(file);
    return queues;
  }

  /**
   * Reads a configuration with the keys of `cloudflare.config.ts`, whose only environment is the mode that it is read
   * in; `null` for one with Wrangler's.
   */
  #converted(file: string, mode: string): Promise<CloudflareReading> | null {
    const before = this.#modules.get(file);
    if (before !== undefined) return before;
    const isOutput = projectOfOutput(file) !== null;
    if (!isOutput && !isCloudflareConfig(file)) return null;
    const reading = isOutput ? readBuildOutputFile(file) : readCloudflareConfigFile(file, mode);
    this.#modules.set(file, reading);
    return reading;
  }
}
