import { readFileSync, rmSync } from "node:fs";
import type { DispatchFetch, Miniflare, V4MiniflareOptions, V4WorkerOptions } from "miniflare";
import { newMiniflare, type Project, printedOf, QUEUES_BINDING } from "sluice/workers";
import type { QueueRuntimeOptions } from "../api.ts";
import { INTERRUPTED_ERROR } from "../wire.ts";
import { BrokerCalls, producersOn } from "./broker-calls.ts";
import { dataFolder, temporaryFolder } from "./data-folder.ts";
import { type Prepared, prepare } from "./prepare.ts";
import { pushHandler } from "./push.ts";
import type { QueueHost } from "./queues.ts";
import { resetModule } from "./worker-modules.ts";

const RESET_WORKER = "sluice-testing-reset";
/** What nobody has to read: what workerd prints for those who make it, and faults that come on purpose. */
const EXPECTED = new RegExp(`^(NOSENTRY |(\\w+ \\[)?${INTERRUPTED_ERROR}\\]?: )`);
const SOCKET = { host: "127.0.0.1", port: 0 };

/** A Miniflare with the user's Workers, the broker, and the Worker that empties everything. */
export interface Host extends QueueHost {
  readonly env: Record<string, unknown>;
  readonly fetch: DispatchFetch;
  dispose(): Promise<void>;
}

/**
 * Starts a host.
 *
 * @throws Error for configurations that cannot be used and Workers that do not start, with what is wrong.
 */
export async function startHost(options: QueueRuntimeOptions, startMs: number): Promise<Host> {
  const folders = { generated: temporaryFolder(), data: dataFolder() };
  const remove = () => {
    for (const folder of Object.values(folders)) rmSync(folder, { recursive: true, force: true });
  };
  // Whoever does not dispose of it leaves no files either.
  process.once("exit", remove);
  let miniflare: Miniflare | undefined;
  const dispose = async () => {
    try {
      // Rejects where the Workers did not start.
      await miniflare?.dispose();
    } finally {
      process.off("exit", remove);
      remove();
    }
  };
  try {
    const prepared = await prepare(options, { startMs, folder: folders.generated });
    miniflare = await startMiniflare(prepared, options, folders.data);
    const host = await hostOf(miniflare, prepared);
    return { ...host, dispose };
  } catch (error) {
    await dispose().catch(() => {});
    throw error;
  }
}

async function startMiniflare(
  { project, workers, warnings, rewrite }: Prepared,
  { log = printBad, push = {} }: QueueRuntimeOptions,
  data: string,
): Promise<Miniflare> {
  for (const warning of warnings) log(warning, "warn");
  const endpoints = await pushHandler(push, project);
  const told = workers.map(
    (worker): V4WorkerOptions =>
      worker.name === project.broker.name
        ? {
            ...worker,
            serviceBindings: {
              ...worker.serviceBindings,
              ...{ SLUICE_PUBLIC_HOSTS: endpoints, SLUICE_LISTED_HOSTS: endpoints },
            },
          }
        : worker,
  );
  const options: V4MiniflareOptions = {
    workers: [...told, resetWorker()],
    // Else it asks the Internet for one.
    cf: false,
    logRequests: false,
    handleStructuredLogs: ({ level, message }) => {
      const text = printedOf(message);
      if (text !== null && !EXPECTED.test(text)) log(rewrite(text), level);
    },
  };
  return newMiniflare(options, data);
}

async function hostOf(miniflare: Miniflare, { project, rewrite }: Prepared): Promise<Omit<Host, "dispose">> {
  const [brokerUrl, resetUrl] = await Promise.all([
    miniflare.unsafeGetDirectURL(project.broker.name),
    miniflare.unsafeGetDirectURL(RESET_WORKER),
  ]);
  const calls = new BrokerCalls(brokerUrl.origin);
  const { env, producerOf } = await bindingsOf(miniflare, project, calls);
  return {
    ...{ calls, env, producerOf, rewrite },
    fetch: (...request) => miniflare.dispatchFetch(...request),
    empty: async () => {
      const response = await fetch(resetUrl);
      if (!response.ok) throw new Error(`the runtime could not be emptied: ${await response.text()}`);
    },
  };
}

function resetWorker(): V4WorkerOptions {
  return {
    name: RESET_WORKER,
    modules: [{ type: "ESModule", path: "reset.js", contents: readFileSync(resetModule(), "utf8") }],
    // One that the workerd of the oldest Wrangler knows.
    compatibilityDate: "2026-01-01",
    compatibilityFlags: ["unsafe_module"],
    unsafeDirectSockets: [SOCKET],
  };
}

/** The bindings of all Workers by name, those of the first one first, with queues that send to the broker. */
async function bindingsOf(miniflare: Miniflare, { workers }: Project, calls: BrokerCalls) {
  const all = await Promise.all(workers.map(({ name }) => miniflare.getBindings(name)));
  const env: Record<string, unknown> = Object.assign({}, ...all.reverse());
  for (const name of [QUEUES_BINDING, "__SLUICE_BROKER", "__SLUICE_ASSETS"]) delete env[name];
  const producerOf = producersOn(calls);
  for (const { name, queues } of [...workers].reverse()) {
    for (const { binding, queue, deliveryDelaySeconds } of queues.producers) {
      env[binding] = producerOf(queue, deliveryDelaySeconds, name);
    }
  }
  return { env, producerOf: (queue: string) => producerOf(queue) };
}

function printBad(line: string, level: string): void {
  if (level === "error" || level === "warn") process.stderr.write(`${line}\n`);
}
