import { basename, dirname, join, resolve } from "node:path";
import { ConfigError, isCloudflareConfig, readWorkerConfig, type WorkerQueueConfig } from "@sluice/config";
import { installProducers } from "@sluice/producer";
import { CliError, withoutStack } from "@sluice/project/errors";
import { makeOutputFolder, OUTPUT_FOLDER } from "@sluice/project/files/write-plan";
import { findAbove } from "@sluice/project/folders";
import { folderName } from "@sluice/project/generate/plan";
import { QUEUES_BINDING } from "@sluice/project/names";
import { configFileIn } from "@sluice/project/read/broker";
import { ConfigReader } from "@sluice/project/read/config-reader";
import { queueCompatibility } from "@sluice/project/wrangler/compatibility";
import { loadWrangler, SHARING_VERSION_MIN, takeWranglerOf } from "@sluice/project/wrangler/load-wrangler";
import type { GetPlatformProxyOptions, PlatformProxy } from "wrangler";
import { RESOURCES_FOLDER } from "../data/data-lock.ts";
import { type Session, sessionsOf } from "../processes/sessions.ts";
import { nameSecrets } from "../report/name-secrets.ts";
import { chosenEnvironment } from "../settings/environment.ts";
import { guardWorkerd } from "../workerd/guard-workerd.ts";
import { BrokerLink } from "./broker-link.ts";
import { writeProxyConfig } from "./proxy-config.ts";

/** Wrangler's version must be able to share a broker, which may be that of a `sluice dev`. */
const NEED = { who: "getPlatformProxy", oldest: SHARING_VERSION_MIN };

/**
 * Wrangler's `getPlatformProxy` with queue bindings that send to the broker, for frameworks whose dev server runs on
 * Node.js.
 *
 * ```ts
 * const { env, dispose } = await getPlatformProxy<Env>();
 * await env.ORDERS.send({ id: 7 });
 * await dispose();
 * ```
 *
 * The project's own Wrangler makes all bindings but the queues. These lead to the broker of a running `sluice dev`,
 * else to one of this process, which stores the messages where `sluice dev` finds them. Queue handlers do not run here,
 * but in the `sluice dev` of their Worker.
 *
 * @param options Wrangler's options. `persist` also sets where messages are stored: the folder that `sluice dev` takes
 *   by `--persist-to`, or its `v3`. Default: that of a running `sluice dev` with this Worker or one of its queues, else
 *   `.wrangler/state` beside the configuration. With `false` they are deleted by `dispose()`, and no other process
 *   shares them.
 * @returns Wrangler's proxy. `dispose()` hands a broker of this process over to a `sluice dev` that uses it.
 * @throws Error for configurations that cannot be used, for a Wrangler before 4.84, and where a process that shares no
 *   broker has the messages.
 */
export const getPlatformProxy: typeof import("wrangler").getPlatformProxy = <
  Env,
  CfProperties extends Record<string, unknown>,
>(
  options?: GetPlatformProxyOptions,
) =>
  openProxy<Env, CfProperties>(options).catch((error: unknown) => {
    // Node.js prints an uncaught error with its stack, which would show the user nothing.
    throw error instanceof ConfigError || error instanceof CliError ? withoutStack(error) : error;
  });

async function openProxy<Env, CfProperties extends Record<string, unknown>>(
  options: GetPlatformProxyOptions = {},
): Promise<PlatformProxy<Env, CfProperties>> {
  const workingDirectory = process.cwd();
  const { configPath, environment, persist = true, envFiles } = options;
  const file = configPath === undefined ? findAbove(workingDirectory, configFileIn) : resolve(configPath);
  const env = chosenEnvironment(environment, process.env);
  const folders = [...(file === null ? [] : [dirname(file)]), workingDirectory];
  // Wrangler's own function cannot read a `cloudflare.config.ts`.
  if (file === null || (!isCloudflareConfig(file) && !sendsToQueues(file, env))) {
    takeWranglerOf(folders);
    return loadWrangler().getPlatformProxy<Env, CfProperties>(options);
  }
  takeWranglerOf(folders, NEED);
  const wrangler = loadWrangler();
  const reader = new ConfigReader();
  const queues = await reader.queues(file, env);
  const { config } = await reader.wrangler(file, { env, quiet: true });
  guardWorkerd();
  const root = join(dirname(file), OUTPUT_FOLDER);
  makeOutputFolder(root);
  const folder = folderName({ name: queues.workerName, file, queues });
  const configFile = await writeProxyConfig(file, config, env, join(root, "proxy", folder));
  const data = await dataFolder(file, queues, env, persist);
  const link = queues.producers.length === 0 ? null : await BrokerLink.reach(file, { data, env });
  try {
    using _ = nameSecrets({ directory: dirname(configFile), userDirectory: dirname(file), env });
    const proxy = await wrangler.getPlatformProxy<Env & object, CfProperties>({
      ...options,
      configPath: configFile,
      environment: "",
      persist:
        persist === true ? { path: join(dirname(file), ".wrangler/state", RESOURCES_FOLDER) } : persist,
      ...(envFiles === undefined ? {} : { envFiles: envFiles.map((path) => resolve(dirname(file), path)) }),
    });
    if (link !== null) install(proxy.env, link, queues, queueCompatibility(config));
    let isOver = false;
    const dispose = async () => {
      if (isOver) return;
      isOver = true;
      await Promise.all([proxy.dispose(), link?.release(file)]);
    };
    return { ...proxy, dispose };
  } catch (error) {
    await link?.release(file);
    throw error;
  }
}

function sendsToQueues(file: string, env: string): boolean {
  return readWorkerConfig(file, { env }).producers.length > 0;
}

function install(
  env: object,
  link: BrokerLink,
  { workerName, producers }: WorkerQueueConfig,
  { exposeErrorCodes, defaultContentType }: ReturnType<typeof queueCompatibility>,
): void {
  const bindings = { [QUEUES_BINDING]: link };
  installProducers(bindings, producers, {
    worker: workerName,
    namespaceBinding: QUEUES_BINDING,
    exposeErrorCodes,
    defaultContentType,
  });
  for (const { binding } of producers) Reflect.set(env, binding, Reflect.get(bindings, binding));
}

/**
 * Returns the absolute path of the data folder; `null` for a temporary one. Where the option leaves it open, that is
 * the folder of a running session on the default folder, with this Worker, or with one of its queues, in this order.
 */
async function dataFolder(
  file: string,
  queues: WorkerQueueConfig,
  env: string,
  persist: GetPlatformProxyOptions["persist"],
): Promise<string | null> {
  if (persist === false) return null;
  if (typeof persist === "object") {
    const path = resolve(persist.path);
    // Wrangler's option may name the folder of the data folder's current layout, `v3`.
    return basename(path) === RESOURCES_FOLDER ? dirname(path) : path;
  }
  const own = join(dirname(file), ".wrangler/state");
  const running = sessionsOf(process.env)
    .others()
    .filter(
      (session): session is Session & { data: string } =>
        session.env === env && session.broker !== null && session.data !== null,
    );
  const related =
    running.find(({ data }) => data === own) ?? running.find(({ files }) => files.includes(file));
  if (related !== undefined) return related.data;
  for (const session of running) if (await sharesQueue(session, queues, env)) return session.data;
  return own;
}

async function sharesQueue(
  session: Session,
  { producers }: WorkerQueueConfig,
  env: string,
): Promise<boolean> {
  const reader = new ConfigReader();
  for (const file of session.files) {
    // That session's own process reports what is wrong with its files.
    const other = await reader.queuesElsewhere(file, env, session.modules ?? {}).catch(() => null);
    const theirs = [...(other?.producers ?? []), ...(other?.consumers ?? [])].map(({ queue }) => queue);
    if (producers.some(({ queue }) => theirs.includes(queue))) return true;
  }
  return false;
}
