import { type ChildProcess, spawn } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { constants } from "node:os";
import { CliError } from "@sluice/project/errors";
import type { V4WorkerOptions } from "miniflare";
import { STOP_SIGNALS } from "../processes/stop-signals.ts";
import type { LogLevel, ServerLog } from "../report/server-log.ts";
import type { Runtime } from "../watchdog/keep-running.ts";
import { startMiniflare } from "./start-miniflare.ts";

export interface WorkerdOptions {
  /** The first one answers requests. */
  readonly workers: readonly V4WorkerOptions[];
  /** Name of the broker's Worker. */
  readonly broker: string;
  /** Folder of all persisted data: Durable Objects, KV, R2, D1. Absolute. */
  readonly resources: string;
  /** Port on 127.0.0.1 for debuggers and profilers; `null` for none. */
  readonly inspectorPort: number | null;
  /** Rewrites a message of workerd or of a Worker for the log. */
  readonly rewrite: (text: string) => string;
  /** Log for all messages. */
  readonly log: Pick<ServerLog, "write">;
}

/** A workerd that listens, on this machine alone. Its exit code is 128 + n if signal n ended it, as in shells. */
export interface Workerd extends Runtime {
  /** Ports of the first Worker and of the broker. */
  readonly ports: { readonly http: number; readonly broker: number };
  /** Calls the `scheduled()` handler of a Worker. */
  schedule(worker: string, cron: string, scheduledTime: Date): Promise<void>;
}

/**
 * Code of a process that waits for the end of this one and then kills workerd: a process that is killed cannot do that
 * itself. It runs in its own session, so that no Ctrl-C ends it earlier.
 */
const STOP_WITH_PARENT = `
  process.stdin.on("end", () => { try { process.kill(Number(process.argv[1]), "SIGKILL"); } catch {} }).resume();
`;

/** Options that start a process in its own session, which on Windows would open a window. */
const APART = { detached: true, windowsHide: true } as const;

/**
 * Starts workerd by Miniflare, and resolves when it listens. Output of workerd and of the Workers goes into the log.
 *
 * @throws CliError if it ends before that.
 */
export async function startWorkerd(options: WorkerdOptions): Promise<Workerd> {
  const { workers, broker, resources, inspectorPort, rewrite, log } = options;
  const workerd = takeWorkerd();
  const known = STOP_SIGNALS.flatMap((signal) => process.listeners(signal));
  const miniflare = startMiniflare(workers, {
    resources,
    print: (text, level) => log.write(UNCAUGHT.test(text) ? "error" : logLevelOf(level), rewrite(text)),
    more: {
      verbose: true,
      ...(inspectorPort === null ? {} : { inspectorPort }),
      // Otherwise workerd warns that its `PWD` is another folder than its working directory.
      unsafeRuntimeEnv: { PWD: process.cwd() },
    },
  });
  // Miniflare's listeners would end this process: `stopOnSignals` decides the end.
  for (const signal of STOP_SIGNALS) {
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

/** An uncaught exception of a Worker or of workerd, which workerd logs with level `info`. */
const UNCAUGHT = /^(?:uncaught )?exception[ ;]/;

function logLevelOf(level: string): LogLevel {
  return level === "debug" || level === "warn" || level === "error" ? level : "info";
}

/** A process that is about to be started, as Node's diagnostics channel `child_process` publishes it. */
interface Unstarted extends ChildProcess {
  spawn(options: { args: readonly string[] }): unknown;
}

/** Argument by which the process of a workerd is recognized. */
export const WORKERD_ARGUMENT = "--control-fd=3";

/**
 * Waits for the process of the next workerd, which Miniflare does not expose. It starts in its own session: a
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
 * Resolves with the exit code of a workerd when `dispose` has ended, too.
 *
 * @param dispose ends Miniflare. Called as soon as workerd has ended: a moment later Miniflare would restart workerd by
 *   itself, with the old variables, and so with the wrong last end.
 */
function whenEnded(child: ChildProcess, dispose: () => Promise<void>): Promise<number> {
  return new Promise((resolve) => {
    const ended = (code: number | null, signal: NodeJS.Signals | null) => {
      const exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
      // The code is known also where Miniflare does not end in order.
      dispose()
        .catch(() => {})
        .finally(() => resolve(exitCode));
    };
    if (child.exitCode === null && child.signalCode === null) child.once("exit", ended);
    else ended(child.exitCode, child.signalCode);
  });
}
