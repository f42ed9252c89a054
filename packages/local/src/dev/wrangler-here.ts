import { spawnSync } from "node:child_process";
import type { EventEmitter } from "node:events";
import { constants } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { exitCodeOf, MAIN, type Wrangler, wranglerFile } from "@sluice/project/wrangler/load-wrangler";
import { registryFolder } from "@sluice/project/wrangler/registry";
import { startGuard } from "../workerd/guard.ts";
import { type Attached, attach } from "./inside/attach.ts";
import type { FromInside } from "./inside/contract.ts";
import type { WranglerOptions, WranglerProcess } from "./wrangler-process.ts";

/** Wrangler's own object for a Worker under development. */
interface DevEnv extends EventEmitter {
  readonly proxy: { readonly ready: { readonly promise: Promise<{ readonly url: URL }> } };
  teardown(): Promise<void>;
}

type DevEnvClass = new (...args: readonly unknown[]) => DevEnv;

/** A Wrangler that can be run in this process. */
export type RunnableWrangler = Wrangler & {
  readonly [MAIN]: (args: readonly string[]) => Promise<void>;
  unstable_DevEnv: DevEnvClass;
};

/**
 * Longest that a stop waits for a Wrangler that has only begun to start, in ms: ended before, it would go on with what
 * is left.
 */
const SETTLE_MS_MAX = 10_000;

/** Whether the command line of this Wrangler, and what it starts by it, can be reached from outside. */
export function isRunnable(wrangler: Wrangler): wrangler is RunnableWrangler {
  return wrangler[MAIN] !== undefined && "unstable_DevEnv" in wrangler;
}

/**
 * Runs Wrangler in this process: it is loaded already, since it reads configurations, and to load it takes a second and
 * 250 MB.
 */
export class WranglerHere {
  readonly #wrangler: RunnableWrangler;
  readonly #guard = startGuard();
  #attached: Attached | null = null;
  #options: WranglerOptions | null = null;
  /** The first one is the primary Worker's. */
  #devEnvs: DevEnv[] = [];
  #hasStarted = (_: DevEnv) => {};

  constructor(wrangler: RunnableWrangler) {
    this.#wrangler = wrangler;
    wrangler.unstable_DevEnv = new Proxy(wrangler.unstable_DevEnv, {
      construct: (target, args) => {
        const devEnv = new target(...args);
        this.#devEnvs.push(devEnv);
        if (this.#devEnvs.length === 1) this.#hasStarted(devEnv);
        return devEnv;
      },
    });
    process.once("exit", endChildren);
  }

  /** The one before it has ended. */
  start(options: WranglerOptions): WranglerProcess {
    const { args, env, lines, onListening, workerd } = options;
    this.#options = options;
    this.#devEnvs = [];
    if (this.#attached === null) {
      const settings = { lines, wrangler: wranglerFile(), workerdMark: workerd.mark };
      this.#attached = attach(settings, (message) => this.#on(message));
    } else {
      this.#attached.show(lines);
    }
    setEnvironment(env);
    // Killed outright Wrangler leaves them there, and no other process may have a Worker of that name for five minutes.
    this.#guard.addFiles(lines.workers.map((worker) => join(registryFolder(env), worker)));
    process.argv = [process.execPath, wranglerFile(), ...args];
    const { promise: ended, resolve: end } = Promise.withResolvers<number>();
    const { promise: settled, resolve: settle } = Promise.withResolvers<unknown>();
    this.#hasStarted = ({ proxy }) => {
      const ready = proxy.ready.promise.then(({ url }) =>
        onListening({ host: url.hostname, port: Number(url.port) }),
      );
      ready.then(settle, settle);
    };
    this.#wrangler[MAIN](args).then(
      () => end(Number(process.exitCode ?? 0)),
      // It has said why.
      (error: unknown) => end(exitCodeOf(error)),
    );
    const giveUp = sleep(SETTLE_MS_MAX, undefined, { ref: false });
    return {
      ended,
      // At once: Miniflare hears of the signal too, and would end this process with a code of its own.
      kill: (signal) => process.exit(128 + constants.signals[signal]),
      stop: () => {
        void Promise.race([settled, ended, giveUp])
          .then(() => Promise.allSettled(this.#devEnvs.map((devEnv) => devEnv.teardown())))
          .then(() => end(0));
      },
    };
  }

  #on(message: FromInside): void {
    switch (message.sluice) {
      case "child-started":
        this.#guard.add(message.pid);
        break;
      case "child-ended":
        this.#guard.drop(message.pid);
        break;
      case "socket-in-use":
        this.#options?.onSocketInUse();
        break;
      case "workerd":
        this.#options?.workerd.on(message.event);
        break;
    }
  }
}

/** Makes the environment of this process another one. */
function setEnvironment(env: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
}

/**
 * Ends what this process has started. esbuild in a thread is of no event that Node.js tells of, and is there for ever
 * if its caller ends at a bad moment.
 */
function endChildren(): void {
  if (process.platform === "win32") return;
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  const pairs = (stdout ?? "").split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  for (const [pid = 0, parent] of pairs) if (parent === process.pid) endProcess(pid);
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
