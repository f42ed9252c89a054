import module from "node:module";
import type { QueueRuntime, QueueRuntimeOptions } from "../api.ts";
import { refuseUnusable } from "./options.ts";
import { guarded, Runtime } from "./runtime.ts";

/**
 * Runs Workers by their configurations on their own broker, with a clock that stands until a test moves it.
 *
 * ```ts
 * await using queues = await createQueueRuntime<Env>({ workers: ["./wrangler.toml"] });
 * await queues.env.ORDERS.send({ id: 7 });
 * await queues.advance("12h");
 * ```
 *
 * A start takes about as long as Miniflare's own, most of it for loading Wrangler: start one runtime for a file of
 * tests and call `reset()` between them.
 *
 * @typeParam E bindings of the Workers.
 * @throws Error for configurations that cannot be used and Workers that do not start, with the reason.
 */
export async function createQueueRuntime<E = Record<string, unknown>>(
  options: QueueRuntimeOptions,
): Promise<QueueRuntime<E>> {
  refuseUnusable(options);
  const startMs = (options.start ?? new Date()).getTime();
  if (process.versions.bun !== undefined) {
    throw new Error(
      "createQueueRuntime runs on Node.js, and this is Bun: Miniflare does not run here. Use Vitest, Jest or node:test.",
    );
  }
  // Wrangler is 15 MB of source, which the next process need not compile then.
  module.enableCompileCache();
  const { startHost } = await import("./host.ts");
  const runtime = guarded(new Runtime<E>(await startHost(options, startMs), startMs));
  module.flushCompileCache();
  return runtime;
}
