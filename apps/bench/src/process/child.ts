import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

/** How long a process may take to become ready, and to end when it is asked to. */
export const START_MS_MAX = 90_000;
export const STOP_MS_MAX = 10_000;
/** Output kept for the message of a failure, in characters. */
const OUTPUT_KEPT = 4_000;
const POLL_MS = 50;

/** A process that this one has started. */
export interface Child {
  readonly pid: number;
  readonly process: ChildProcess;
  /** Resolves when `isReady` holds; rejects with its last output when it ends before, or takes too long. */
  ready(isReady: () => Promise<boolean>): Promise<void>;
  /** Ends it and whatever it has started. */
  stop(): Promise<void>;
}

/** Starts a process in a process group of its own, so that nothing it starts can outlive it. */
export function startChild(command: string, args: readonly string[], options: SpawnOptions = {}): Child {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options, detached: true });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-OUTPUT_KEPT);
    });
  }
  let failure: Error | null = null;
  const ended = new Promise<void>((resolve) => {
    child.once("error", (error) => {
      failure = error;
      resolve();
    });
    child.once("exit", () => resolve());
  });
  const hasEnded = () => failure !== null || child.exitCode !== null || child.signalCode !== null;
  return {
    pid: child.pid ?? 0,
    process: child,
    async ready(isReady) {
      const deadlineMs = Date.now() + START_MS_MAX;
      while (Date.now() < deadlineMs) {
        if (failure !== null) throw failure;
        if (hasEnded()) throw new Error(`${command} ended with code ${child.exitCode}\n${output}`);
        if (await isReady().catch(() => false)) return;
        await sleep(POLL_MS);
      }
      throw new Error(`${command} was not ready within ${START_MS_MAX / 1000} s\n${output}`);
    },
    async stop() {
      if (child.pid === undefined) return;
      if (!hasEnded()) child.kill("SIGTERM");
      await Promise.race([ended, sleep(STOP_MS_MAX, undefined, { ref: false })]);
      killGroup(child.pid);
      await ended;
    },
  };
}

/** What is left of a process group that we made. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nothing is left.
  }
}

/** Runs a command to its end. Rejects with its output when it fails. */
export async function runToEnd(command: string, args: readonly string[], options: SpawnOptions = {}) {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with code ${code}: ${output.trim()}`);
  return output;
}
