import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

/** Longest time until a process is ready, in ms. */
const START_MS_MAX = 120_000;
/** Longest time from a signal to the end of a process, in ms. */
export const STOP_MS_MAX = 10_000;
/** Length of the end of the output that a failure's message has, in characters. */
const OUTPUT_SHOWN = 4_000;

export interface ChildOptions extends SpawnOptions {
  /** Time between two calls of `isReady`, in ms. Default 50. */
  readonly pollMs?: number;
}

/** A child process. */
export interface Child {
  /** Process id; 0 if the process could not be started. */
  readonly pid: number;
  readonly process: ChildProcess;
  /** Text that it has printed, on both streams. */
  readonly output: string;
  /** How it ended; `null` while it runs. */
  readonly ended: { readonly code: number | null; readonly signal: NodeJS.Signals | null } | null;
  /**
   * Resolves when `isReady` returns true; an error of `isReady` counts as false. Rejects with the last output if the
   * process ends before, or is not ready within two minutes, also where a call of `isReady` never settles.
   */
  ready(isReady: () => boolean | Promise<boolean>): Promise<void>;
  /** Resolves when it has ended and everything that it has printed was read. */
  whenEnded(): Promise<void>;
  /** Sends a signal, SIGTERM by default, and after its end or `STOP_MS_MAX` kills the rest of its process group. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts a process in a process group of its own, so that `stop` can also end the processes that it has started. */
export function startChild(
  command: string,
  args: readonly string[],
  { pollMs = 50, ...options }: ChildOptions = {},
): Child {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options, detached: true });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  let failure: Error | null = null;
  let ended: Child["ended"] = null;
  const exited = new Promise<void>((resolve) => {
    child.once("error", (error) => {
      failure = error;
      resolve();
    });
    child.once("exit", (code, signal) => {
      ended = { code, signal };
      resolve();
    });
  });
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const printed = () => output.slice(-OUTPUT_SHOWN);
  return {
    pid: child.pid ?? 0,
    process: child,
    get output() {
      return output;
    },
    get ended() {
      return ended;
    },
    async ready(isReady) {
      const done = new AbortController();
      const late = sleep(START_MS_MAX, "late", { signal: done.signal }).catch(() => "late");
      const ask = async () => ((await isReady()) ? "ready" : "not ready");
      try {
        for (;;) {
          if (failure !== null) throw failure;
          if (ended !== null)
            throw new Error(`${command} ended with ${ended.code ?? ended.signal}\n${printed()}`);
          const answer = await Promise.race([ask().catch(() => "not ready"), exited, late]);
          if (answer === "ready") return;
          if (answer === "late")
            throw new Error(`${command} was not ready within ${START_MS_MAX / 1000} s\n${printed()}`);
          await sleep(pollMs);
        }
      } finally {
        done.abort();
      }
    },
    whenEnded: () => closed,
    async stop(signal = "SIGTERM") {
      if (child.pid === undefined) return;
      if (ended === null) child.kill(signal);
      await Promise.race([exited, sleep(STOP_MS_MAX, undefined, { ref: false })]);
      killGroup(child.pid);
      await exited;
    },
  };
}

/** Kills the processes that are left of a process group. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nothing is left.
  }
}
