import "@sluice/project/node-version/refuse-old-node";

import { statSync } from "node:fs";
import module from "node:module";
import { resolve } from "node:path";
import type { PoolContext, PoolOptions, SluiceOptions } from "./options.ts";
import { projectOf, type TestedProject } from "./project.ts";
import type { WorkersUnderTest } from "./workers-under-test.ts";

export type { PoolContext, PoolOptions, SluiceOptions } from "./options.ts";

/**
 * Makes options of `cloudflareTest` with a broker for a project's queues, and a clock that only tests move.
 *
 * ```ts
 * export default defineConfig({
 *   plugins: [cloudflareTest(sluice({ wrangler: { configPath: "./wrangler.toml" } }))],
 * });
 * ```
 *
 * Sends of the Worker under test and of the tests go to the broker, which calls the `queue()` handlers. Tests import
 * `advance`, `runUntilIdle`, `stories` and others from `@sluice/testing/worker`. Each test file has its own broker.
 *
 * @param options options of `cloudflareTest`, or a function that returns them. `wrangler.configPath` or `config` is
 *   required, because queues come from the Worker's configuration; `main` is not allowed. `start` sets the virtual
 *   time, default now.
 * @returns a function that `cloudflareTest` calls before each file. It rejects for unusable configurations.
 */
export function sluice(
  options: SluiceOptions | ((context: PoolContext) => SluiceOptions | Promise<SluiceOptions>),
): (this: unknown, context: PoolContext) => Promise<PoolOptions> {
  const prepared = new PreparedWorkers();
  return async function poolOptions(context) {
    const project = projectOf(this);
    const given = typeof options === "function" ? await options(context) : options;
    const { auxiliaryWorkers: _, start: __, config: ___, ...rest } = given;
    refuseUnusable(given);
    const workers = await prepared.of(given, project);
    return workers.optionsFor(rest, project.runner);
  };
}

/** Prepares Workers once for all test files; again when their files have changed or the preparation has failed. */
class PreparedWorkers {
  #key: string | undefined;
  #dependencies: readonly string[] = [];
  #workers: Promise<WorkersUnderTest> | undefined;

  of(options: SluiceOptions, project: TestedProject): Promise<WorkersUnderTest> {
    const { root, mode } = project;
    const { wrangler, auxiliaryWorkers = [], config, start } = options;
    const first = cloudflareConfig(config) ?? wrangler?.configPath ?? "";
    const files = [first, ...auxiliaryWorkers.map(({ configPath }) => configPath)].map((path) =>
      resolve(root, path),
    );
    const env = cloudflareConfig(config) === null ? environmentOf(wrangler) : mode;
    const keyNow = () => {
      const changed = [...files, ...this.#dependencies].map(
        (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs,
      );
      return JSON.stringify([files, changed, env, start]);
    };
    if (this.#workers !== undefined && keyNow() === this.#key) return this.#workers;
    const workers = prepare(files, env, options, project);
    this.#workers = workers;
    this.#key = keyNow();
    workers.then(
      ({ dependencies }) => {
        this.#dependencies = dependencies;
        this.#key = keyNow();
      },
      // The cause of a failure may not be in one of these files.
      () => {
        if (this.#workers === workers) this.#workers = undefined;
      },
    );
    return workers;
  }
}

/** Returns the path of the `cloudflare.config.ts` that the option `config` names; `null` where it names none. */
function cloudflareConfig(config: SluiceOptions["config"]): string | null {
  if (config === undefined || config === false) return null;
  return config === true ? "cloudflare.config.ts" : config;
}

function environmentOf(wrangler: SluiceOptions["wrangler"]): string {
  return wrangler?.environment ?? process.env.CLOUDFLARE_ENV ?? "";
}

async function prepare(
  files: readonly string[],
  env: string,
  { start = new Date() }: SluiceOptions,
  { root, pluginFolder, maps }: TestedProject,
): Promise<WorkersUnderTest> {
  if (!Number.isFinite(start.getTime())) throw new TypeError("start: an invalid date.");
  // Wrangler is 15 MB of source, which the next process need not compile then.
  module.enableCompileCache();
  const { prepareWorkers } = await import("./workers-under-test.ts");
  const workers = files.map((config) => ({ config, env }));
  const prepared = await prepareWorkers({ workers, root }, start.getTime(), { pluginFolder, maps });
  module.flushCompileCache();
  return prepared;
}

/** @throws TypeError for options that bypass the Worker's configuration, which defines the queues. */
function refuseUnusable({ wrangler, main, config, miniflare }: SluiceOptions): void {
  const module = cloudflareConfig(config);
  if (module !== null && wrangler !== undefined) {
    throw new TypeError(
      "`wrangler` and `config` both name the Worker's configuration. Leave one of them out.",
    );
  }
  const file = module ?? wrangler?.configPath;
  if (file === undefined) {
    throw new TypeError(
      'sluice() reads queues from a configuration. Name it: wrangler: { configPath: "./wrangler.toml" }, or ' +
        "config: true for a cloudflare.config.ts.",
    );
  }
  if (main !== undefined) {
    const key = module === null ? "main" : "worker.entrypoint";
    throw new TypeError(
      `sluice() puts an entry of its own before the Worker's module. Name "${main}" as "${key}" of ` +
        `${file} instead of in the options.`,
    );
  }
  for (const worker of [miniflare, ...(miniflare?.workers ?? [])]) {
    for (const key of ["queueProducers", "queueConsumers"] as const) {
      if (worker?.[key] === undefined) continue;
      throw new TypeError(
        `miniflare: \`${key}\` would use Miniflare's queues. Write them in a Wrangler configuration, ` +
          'and name that of another Worker in `auxiliaryWorkers`: [{ configPath: "../mailer/wrangler.toml" }].',
      );
    }
  }
}
