import { guardWorkerd } from "@sluice/local/workerd/guard-workerd";
import { type MiniflareRun, restartMiniflare, startMiniflare } from "@sluice/local/workerd/start-miniflare";
import { removePath } from "@sluice/project/folders";
import { QUEUES_BINDING } from "@sluice/project/names";
import type { Project } from "@sluice/project/read/project";
import type { DispatchFetch, Miniflare } from "miniflare";
import type { QueueRuntimeOptions } from "../api.ts";
import { BrokerCalls, producersOn } from "./broker-calls.ts";
import { dataFolder, temporaryFolder } from "./data-folder.ts";
import { HOST_WORKER, surrounded } from "./host-worker.ts";
import { OpenCalls, TIMEOUT_MS_DEFAULT } from "./open-calls.ts";
import { type Prepared, prepare } from "./prepare.ts";
import { Printer } from "./printer.ts";
import { ProcessHandles } from "./process-handles.ts";
import type { QueueHost } from "./queues.ts";

/** Call of a handler: its Worker, the cron expression, and the time in ms. */
export interface ScheduledEvent {
  readonly worker: string;
  readonly cron: string;
  readonly scheduledTime: number;
}

/** Outcome of a handler, with its errors. */
interface ScheduledReply {
  readonly outcome: "ok" | "exception" | "absent";
  readonly errors: readonly string[];
}

/** A Miniflare with the user's Workers, the broker, and the Worker between these and the test's process. */
export interface Host extends QueueHost {
  readonly env: Record<string, unknown>;
  /** Names of the user's Workers, in their order. */
  readonly workers: readonly string[];
  readonly fetch: DispatchFetch;
  /** Calls the `scheduled()` handler of a Worker. */
  scheduled(event: ScheduledEvent): Promise<ScheduledReply>;
  /** Shows from now on what Workers print, or not, where the options have no `log`. */
  show(isShown: boolean): Promise<void>;
  /** Prints a line of the test kit itself. */
  warn(line: string): void;
  dispose(): Promise<void>;
}

/**
 * Starts a host.
 *
 * @throws Error for configurations that cannot be used and Workers that do not start, with the reason.
 */
export async function startHost(options: QueueRuntimeOptions, startMs: number): Promise<Host> {
  guardWorkerd();
  const folders = { generated: temporaryFolder(), data: dataFolder() };
  const remove = () => {
    for (const folder of Object.values(folders)) removePath(folder);
  };
  // Deletes the files of a host that is not disposed of.
  process.once("exit", remove);
  const open = new OpenCalls(options.timeoutMs ?? TIMEOUT_MS_DEFAULT);
  const handles = new ProcessHandles();
  let miniflare: Miniflare | undefined;
  let prepared: Prepared | undefined;
  const dispose = async () => {
    open.end();
    try {
      // Rejects where the Workers did not start.
      await handles.untilEnded(async () => miniflare?.dispose());
    } finally {
      process.off("exit", remove);
      prepared?.stacks.close();
      remove();
    }
  };
  try {
    const ready = await prepare(options, { startMs, folder: folders.generated });
    prepared = ready;
    const printer = new Printer(ready, options, open);
    const workers = surrounded(ready, options, startMs, open);
    const run = (): MiniflareRun => ({
      resources: folders.data,
      print: (text, level) => printer.print(text, level),
    });
    const host = await handles.known(async () => {
      miniflare = inFolder(folders.generated, () => startMiniflare(workers, run()));
      return hostOf(miniflare, ready, {
        open,
        printer,
        used: () => handles.used(),
        restart: async (its) => {
          const { data } = folders;
          folders.data = dataFolder();
          await handles.known(() => restartMiniflare(its, workers, run()));
          handles.release();
          removePath(data);
        },
      });
    });
    handles.release();
    return { ...host, dispose };
  } catch (error) {
    await dispose().catch(() => {});
    throw error;
  }
}

/** Creates a Miniflare whose temporary folder is in one of ours, and is deleted with it. */
function inFolder<Result>(folder: string, create: () => Result): Result {
  const name = process.platform === "win32" ? "TEMP" : "TMPDIR";
  const before = process.env[name];
  process.env[name] = folder;
  try {
    return create();
  } finally {
    if (before === undefined) delete process.env[name];
    else process.env[name] = before;
  }
}

interface HostPorts {
  readonly open: OpenCalls;
  readonly printer: Printer;
  /** Called at each use. */
  used(): void;
  /** Restarts workerd with nothing stored. */
  restart(miniflare: Miniflare): Promise<void>;
}

async function hostOf(
  miniflare: Miniflare,
  { project, rewrite }: Prepared,
  { open, printer, used, restart }: HostPorts,
): Promise<Omit<Host, "dispose">> {
  // The URLs stay the same when workerd restarts.
  const [brokerUrl, hostUrl] = await Promise.all([
    miniflare.unsafeGetDirectURL(project.broker.name),
    miniflare.unsafeGetDirectURL(HOST_WORKER),
  ]);
  const answerTo = <Result>(what: string, call: () => Promise<Result>, waitMs?: number) => {
    used();
    return open.answer(what, call, waitMs);
  };
  const calls = new BrokerCalls(brokerUrl.origin, (url, init, waitMs) =>
    answerTo("the broker does not answer", () => fetch(url, init), waitMs),
  );
  const { env, producerOf } = await bindingsOf(miniflare, project, calls);
  const ask = async (what: string, path: string, body: object = {}): Promise<string> => {
    const response = await answerTo(what, () =>
      fetch(new URL(path, hostUrl), { method: "POST", body: JSON.stringify(body) }),
    );
    const text = await response.text();
    if (response.ok) return text;
    throw new Error(`the runtime does not answer ${path}: ${text}`);
  };
  const empty = () => ask("the Workers do not answer", "/empty");
  return {
    calls,
    env,
    producerOf,
    rewrite,
    workers: project.workers.map(({ name }) => name),
    fetch: (...request) => {
      const [input, init] = request;
      return answerTo(`${init?.method ?? "GET"} ${input}: fetch() of the Worker`, () =>
        miniflare.dispatchFetch(...request),
      );
    },
    scheduled: async (event) =>
      JSON.parse(await ask(`Worker "${event.worker}": scheduled()`, "/scheduled", event)) as ScheduledReply,
    show: async (isShown) => {
      const byItself = () => printer.show(isShown);
      // A workerd that hangs prints nothing.
      if (open.isStuck) byItself();
      else await calls.show({ isShown }).catch(byItself);
    },
    warn: (line) => printer.warn(line),
    empty: async () => {
      // A handler whose call timed out may still run, and end in the next test.
      if (!open.isStuck) {
        await empty().catch((error: unknown) => {
          if (!open.isStuck) throw error;
        });
      }
      if (!open.isStuck) return;
      open.restart();
      await restart(miniflare);
      Object.assign(env, (await bindingsOf(miniflare, project, calls)).env);
      await empty();
    },
  };
}

/** Collects the bindings of all Workers by name, the first Worker's with precedence; queues use the broker. */
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
