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
 * @param options options of `cloudflareTest`, or a function that returns them. `wrangler.configPath` is required,
 *   because queues come from the Wrangler configuration; `main` and `config` are not allowed. `start` sets the
 *   virtual time, default now.
 * @returns a function that `cloudflareTest` calls before each file. It rejects for unusable configurations.
 */
export function sluice(
  options: SluiceOptions | ((context: PoolContext) => SluiceOptions | Promise<SluiceOptions>),
): (this: unknown, context: PoolContext) => Promise<PoolOptions> {
  const prepared = new PreparedWorkers();
  return async function poolOptions(context) {
    const project = projectOf(this);
    const given = typeof options === "function" ? await options(context) : options;
    const { auxiliaryWorkers: _, start: __, ...rest } = given;
    refuseUnusable(given);
    const workers = await prepared.of(given, project);
    return workers.optionsFor(rest, project.runner);
  };
}

/** Prepares Workers once for all test files, and again when their configurations change. */
class PreparedWorkers {
  #key: string | undefined;
  #workers: Promise<WorkersUnderTest> | undefined;

  of(options: SluiceOptions, project: TestedProject): Promise<WorkersUnderTest> {
    const { root } = project;
    const { wrangler, auxiliaryWorkers = [], start } = options;
    const files = [wrangler, ...auxiliaryWorkers].map((worker) => resolve(root, worker?.configPath ?? ""));
    const changed = files.map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs);
    const key = JSON.stringify([files, changed, wrangler?.environment, start]);
    if (key !== this.#key) {
      this.#key = key;
      this.#workers = prepare(files, options, project);
    }
    return this.#workers as Promise<WorkersUnderTest>;
  }
}

async function prepare(
  files: readonly string[],
  options: SluiceOptions,
  { root, pluginFolder }: TestedProject,
): Promise<WorkersUnderTest> {
  const { wrangler, start = new Date() } = options;
  if (!Number.isFinite(start.getTime())) throw new TypeError("start: an invalid date.");
  const env = wrangler?.environment ?? process.env.CLOUDFLARE_ENV ?? "";
  // Wrangler is 15 MB of source, which the next process need not compile then.
  module.enableCompileCache();
  const { prepareWorkers } = await import("./workers-under-test.ts");
  const workers = files.map((config) => ({ config, env }));
  const prepared = await prepareWorkers({ workers, root }, start.getTime(), pluginFolder);
  module.flushCompileCache();
  return prepared;
}

/** @throws TypeError for options that bypass the Wrangler configuration, which defines the queues. */
function refuseUnusable({ wrangler, main, config, miniflare }: SluiceOptions): void {
  if (config !== undefined && config !== false) {
    throw new TypeError(
      "sluice() reads queues from a Wrangler configuration, and not from a cloudflare.config.ts (`config`). " +
        'Name one: wrangler: { configPath: "./wrangler.toml" }.',
    );
  }
  if (wrangler?.configPath === undefined) {
    throw new TypeError(
      'sluice() reads queues from a Wrangler configuration. Name it: wrangler: { configPath: "./wrangler.toml" }.',
    );
  }
  if (main !== undefined) {
    throw new TypeError(
      `sluice() puts an entry of its own before the Worker's module. Name "${main}" as "main" of ` +
        `${wrangler.configPath} instead of in the options.`,
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
