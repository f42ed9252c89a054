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

/** Reads configurations of all kinds. It reads each `cloudflare.config.ts` once, since reading a module runs it. */
export class ConfigReader {
  readonly #modules = new Map<string, Promise<CloudflareReading>>();
  /** Further files that configurations consist of, such as settings beside a `cloudflare.config.ts`. */
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
   * Reads the queues of a Worker that another process runs, without running a `cloudflare.config.ts`.
   *
   * @param modules contents of each `cloudflare.config.ts`, as the other processes have read them.
   * @returns `null` for a `cloudflare.config.ts` that is not in `modules`.
   * @throws ConfigError or CliError for one that cannot be used.
   */
  async queuesElsewhere(file: string, env: string, modules: ReadModules): Promise<WorkerQueueConfig | null> {
    if (!isCloudflareConfig(file)) return this.queues(file, env);
    const module = Object.hasOwn(modules, file) ? modules[file] : undefined;
    return module === undefined ? null : this.#noted(readCloudflareConfig(file, module, env));
  }

  /** Reads a whole configuration, as Wrangler does. */
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

  /** Lists further files, absent ones included, whose change can change the next reading. */
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
   * Reads a `cloudflare.config.ts`, or a Worker of Build Output, which has the same keys; `null` for other files. Such
   * a file has one environment, the mode in which it is read.
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
