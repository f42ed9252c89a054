import { rmSync } from "node:fs";
import type { DispatchFetch, Miniflare, V4MiniflareOptions } from "miniflare";
import { newMiniflare, type Project, printedOf, QUEUES_BINDING } from "sluice/workers";
import type { QueueRuntimeOptions } from "../api.ts";
import { INTERRUPTED_ERROR } from "../wire.ts";
import { BrokerCalls, producersOn } from "./broker-calls.ts";
import { dataFolder, temporaryFolder } from "./data-folder.ts";
import { HOST_WORKER, surrounded } from "./host-worker.ts";
import { type Prepared, prepare } from "./prepare.ts";
import { ProcessHandles } from "./process-handles.ts";
import type { QueueHost } from "./queues.ts";

/** What nobody has to read: what workerd prints for those who make it, and faults that come on purpose. */
const EXPECTED = new RegExp(`^(NOSENTRY |(\\w+ \\[)?${INTERRUPTED_ERROR}\\]?: )`);

/** Calls a handler: its Worker, the expression, and the time in ms. */
export interface ScheduledEvent {
  readonly worker: string;
  readonly cron: string;
  readonly scheduledTime: number;
}

/** Outcome of a handler, and what it has thrown. */
export interface ScheduledReply {
  readonly outcome: "ok" | "exception" | "absent";
  readonly errors: readonly string[];
}

/** A Miniflare with the user's Workers, the broker, and the Worker between these and the test's process. */
export interface Host extends QueueHost {
  readonly env: Record<string, unknown>;
  /** Names of the user's, the first one first. */
  readonly workers: readonly string[];
  readonly fetch: DispatchFetch;
  /** Calls the `scheduled()` handler of a Worker. */
  scheduled(event: ScheduledEvent): Promise<ScheduledReply>;
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
  const handles = new ProcessHandles();
  let miniflare: Miniflare | undefined;
  const dispose = async () => {
    try {
      // Rejects where the Workers did not start.
      await handles.untilEnded(async () => miniflare?.dispose());
    } finally {
      process.off("exit", remove);
      remove();
    }
  };
  try {
    const prepared = await prepare(options, { startMs, folder: folders.generated });
    const host = await handles.known(() => {
      miniflare = startMiniflare(prepared, options, startMs, folders.data);
      return hostOf(miniflare, prepared, () => handles.used());
    });
    handles.release();
    return { ...host, dispose };
  } catch (error) {
    await dispose().catch(() => {});
    throw error;
  }
}

function startMiniflare(
  prepared: Prepared,
  options: QueueRuntimeOptions,
  startMs: number,
  data: string,
): Miniflare {
  const { log = printBad } = options;
  const { warnings, rewrite } = prepared;
  for (const warning of warnings) log(warning, "warn");
  const miniflareOptions: V4MiniflareOptions = {
    workers: surrounded(prepared, options, startMs),
    // Else it asks the Internet for one.
    cf: false,
    logRequests: false,
    handleStructuredLogs: ({ level, message }) => {
      const text = printedOf(message);
      if (text !== null && !EXPECTED.test(text)) log(rewrite(text), level);
    },
  };
  return newMiniflare(miniflareOptions, data);
}

/** @param used called at each use. */
async function hostOf(
  miniflare: Miniflare,
  { project, rewrite }: Prepared,
  used: () => void,
): Promise<Omit<Host, "dispose">> {
  const [brokerUrl, hostUrl] = await Promise.all([
    miniflare.unsafeGetDirectURL(project.broker.name),
    miniflare.unsafeGetDirectURL(HOST_WORKER),
  ]);
  const call: typeof fetch = (...request) => {
    used();
    return fetch(...request);
  };
  const calls = new BrokerCalls(brokerUrl.origin, call);
  const { env, producerOf } = await bindingsOf(miniflare, project, calls);
  const ask = async (path: string, body: object = {}): Promise<string> => {
    const response = await call(new URL(path, hostUrl), { method: "POST", body: JSON.stringify(body) });
    const text = await response.text();
    if (response.ok) return text;
    throw new Error(`the runtime does not answer ${path}: ${text}`);
  };
  return {
    ...{ calls, env, producerOf, rewrite },
    workers: project.workers.map(({ name }) => name),
    fetch: (...request) => {
      used();
      return miniflare.dispatchFetch(...request);
    },
    scheduled: async (event) => JSON.parse(await ask("/scheduled", event)) as ScheduledReply,
    empty: async () => {
      await ask("/empty");
    },
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
