import { type ChildProcess, spawn } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { constants } from "node:os";
import { CliError } from "@sluice/project/errors";
import type { V4WorkerOptions } from "miniflare";
import type { LogLevel, ServerLog } from "../report/server-log.ts";
import type { Runtime } from "../watchdog/keep-running.ts";
import { startMiniflare } from "./start-miniflare.ts";

export interface WorkerdOptions {
  /** The first one answers requests. */
  readonly workers: readonly V4WorkerOptions[];
  /** Name of the one that is the broker. */
  readonly broker: string;
  /** Folder of everything that is kept: Durable Objects, KV, R2, D1. Absolute. */
  readonly resources: string;
  /** Port on 127.0.0.1 for debuggers and profilers; `null` for none. */
  readonly inspectorPort: number | null;
  /** Makes of what it or a Worker prints what is to be printed. */
  readonly rewrite: (text: string) => string;
  /** Where all of it goes. */
  readonly log: Pick<ServerLog, "write">;
}

/** A workerd that listens, on this machine alone. Its exit code is 128 + n if signal n ended it, as shells count. */
export interface Workerd extends Runtime {
  /** Ports of the first Worker and of the broker. */
  readonly ports: { readonly http: number; readonly broker: number };
  /** Calls the `scheduled()` handler of a Worker. */
  schedule(worker: string, cron: string, scheduledTime: Date): Promise<void>;
}

/**
 * Waits in a process of its own for the end of this one, and takes workerd along: killed outright, we cannot. It has a
 * session of its own, so that no Ctrl-C ends it before us.
 */
const STOP_WITH_PARENT = `
  process.stdin.on("end", () => { try { process.kill(Number(process.argv[1]), "SIGKILL"); } catch {} }).resume();
`;

/** Session of its own for a process, which on Windows would be seen in a window. */
const APART = { detached: true, windowsHide: true } as const;

/** Signals at which Miniflare ends the process that it runs in. When that ends, and how, is ours to say. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Starts workerd by Miniflare and resolves when it listens. What it and the Workers print goes into the log.
 *
 * @throws CliError when it ends before.
 */
export async function startWorkerd(options: WorkerdOptions): Promise<Workerd> {
  const { workers, broker, resources, inspectorPort, rewrite, log } = options;
  const workerd = takeWorkerd();
  const known = SIGNALS.flatMap((signal) => process.listeners(signal));
  const miniflare = startMiniflare(workers, {
    resources,
    print: (text, level) => log.write(UNCAUGHT.test(text) ? "error" : logLevelOf(level), rewrite(text)),
    more: {
      verbose: true,
      ...(inspectorPort === null ? {} : { inspectorPort }),
      // Else it says that it is in another folder than ours.
      unsafeRuntimeEnv: { PWD: process.cwd() },
    },
  });
  for (const signal of SIGNALS) {
    for (const listener of process.listeners(signal)) {
      if (!known.includes(listener)) process.off(signal, listener);
    }
  }
  try {
    const [primary] = workers;
    const urls = await Promise.all([
      miniflare.unsafeGetDirectURL(primary?.name, primary?.unsafeDirectSockets?.[0]?.entrypoint),
      miniflare.unsafeGetDirectURL(broker),
    ]);
    const [http, ofBroker] = urls.map(({ port }) => Number(port)) as [number, number];
    const child = await workerd.started;
    const ended = whenEnded(child, () => miniflare.dispose());
    return {
      ports: { http, broker: ofBroker },
      ended,
      kill: (signal) => void child.kill(signal),
      schedule: async (worker, cron, scheduledTime) => {
        await (await miniflare.getWorker(worker)).scheduled({ cron, scheduledTime });
      },
    };
  } catch (error) {
    await miniflare.dispose().catch(() => {});
    throw new CliError(error instanceof Error ? error.message : String(error));
  } finally {
    workerd.stop();
  }
}

/** An exception of a Worker, or of workerd: to workerd both are information. */
const UNCAUGHT = /^(?:uncaught )?exception[ ;]/;

function logLevelOf(level: string): LogLevel {
  return level === "debug" || level === "warn" || level === "error" ? level : "info";
}

/** A process that is about to be started, as Node.js tells of it. */
interface Unstarted extends ChildProcess {
  spawn(options: { args: readonly string[] }): unknown;
}

/** An argument of workerd's, and of nothing else that is started meanwhile. */
export const WORKERD_ARGUMENT = "--control-fd=3";

/**
 * Waits for the process of a workerd, which Miniflare keeps to itself. It gets a session of its own, since a
 * terminal's Ctrl-C is for this process, which lets workerd finish.
 */
function takeWorkerd(): { readonly started: Promise<ChildProcess>; stop(): void } {
  const { promise: started, resolve } = Promise.withResolvers<ChildProcess>();
  const created = (message: unknown) => {
    const { process: child } = message as { process: Unstarted };
    const { spawn } = child;
    child.spawn = function (this: Unstarted, options) {
      const isWorkerd = options.args.includes(WORKERD_ARGUMENT);
      const result = Reflect.apply(spawn, this, [isWorkerd ? { ...options, ...APART } : options]);
      if (isWorkerd) {
        stopWithParent(child);
        resolve(child);
      }
      return result;
    };
  };
  subscribe("child_process", created);
  return { started, stop: () => unsubscribe("child_process", created) };
}

function stopWithParent(workerd: ChildProcess): void {
  const watchdog = spawn(process.execPath, ["-e", STOP_WITH_PARENT, String(workerd.pid)], {
    ...APART,
    stdio: ["pipe", "ignore", "ignore"],
  });
  watchdog.unref();
  workerd.once("exit", () => watchdog.kill());
}

/**
 * Resolves with the exit code when all that belongs to a process is gone.
 *
 * @param dispose called at the moment of the end: a moment later Miniflare would start workerd again by itself, with
 *   what this one was told of the end before.
 */
function whenEnded(child: ChildProcess, dispose: () => Promise<void>): Promise<number> {
  return new Promise((resolve) => {
    const ended = (code: number | null, signal: NodeJS.Signals | null) => {
      const exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
      dispose().finally(() => resolve(exitCode));
    };
    if (child.exitCode === null && child.signalCode === null) child.once("exit", ended);
    else ended(child.exitCode, child.signalCode);
  });
}
