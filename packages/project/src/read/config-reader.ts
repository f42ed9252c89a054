import { dirname, join } from "node:path";
import {
  CONFIG_FILE_NAMES,
  inWordsOfCloudflareConfig,
  isCloudflareConfig,
  readCloudflareConfig,
  readWorkerConfig,
  type WorkerQueueConfig,
} from "@sluice/config";
import type { CloudflareReading } from "../wrangler/cloudflare-config.ts";
import {
  type ReadOptions,
  readCloudflareConfigFile,
  readWranglerConfig,
  type WranglerReading,
} from "../wrangler/wrangler-config.ts";

/** Names of files beside a `cloudflare.config.ts` that belong to it. */
const BESIDE = ["wrangler.config.ts", ...CONFIG_FILE_NAMES];

/** Reads configurations of both kinds, each `cloudflare.config.ts` once: to read it runs it. */
export class ConfigReader {
  readonly #modules = new Map<string, Promise<CloudflareReading>>();

  /**
   * Reads the queues of a configuration, by our own rules.
   *
   * @param env environment, "" for the top level; the mode of a `cloudflare.config.ts`.
   * @throws ConfigError or CliError for one that cannot be used.
   */
  async queues(file: string, env: string): Promise<WorkerQueueConfig> {
    if (!isCloudflareConfig(file)) return readWorkerConfig(file, { env });
    const { converted } = await this.#module(file, env);
    return readCloudflareConfig(file, converted, env);
  }

  /** Reads everything of a configuration, as Wrangler does. */
  async wrangler(file: string, options: ReadOptions): Promise<WranglerReading> {
    if (!isCloudflareConfig(file)) return readWranglerConfig(file, options);
    const { config, warnings, converted } = await this.#module(file, options.env);
    return { config, warnings: inWordsOfCloudflareConfig(warnings, converted) };
  }

  /** Lists further files, absent ones too, whose change can change the result of the next reading. */
  async dependencies(): Promise<string[]> {
    const read = [...this.#modules].map(async ([file, reading]) => [
      ...BESIDE.map((name) => join(dirname(file), name)),
      ...(await reading.then(({ dependencies }) => dependencies).catch(() => [])),
    ]);
    return [...new Set((await Promise.all(read)).flat())];
  }

  /** Reads a `cloudflare.config.ts`, whose only environment is the mode that it is read in. */
  #module(file: string, mode: string): Promise<CloudflareReading> {
    const reading = this.#modules.get(file) ?? readCloudflareConfigFile(file, mode);
    this.#modules.set(file, reading);
    return reading;
  }
}
