import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";

/** Longest that a process may take to start, and to end when it is asked to, in ms. */
const START_MS_MAX = 120_000;
const STOP_MS_MAX = 10_000;
const POLL_MS = 100;

/** A development server that this process has started. */
export interface DevProcess {
  /** What it has printed, without colours. */
  readonly log: string;
  /** Ends it and whatever it has started. */
  stop(): Promise<void>;
}

/**
 * Starts a Node script in a process group of its own, so that nothing it starts can outlive it, and waits until
 * `isReady` holds. Rejects with what it printed when it ends before, or takes too long.
 */
export async function startDevProcess(
  args: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
  isReady: (log: string) => Promise<boolean>,
): Promise<DevProcess> {
  const child = spawn(process.execPath, args, {
    ...options,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const running: DevProcess = {
    get log() {
      return stripVTControlCharacters(output);
    },
    async stop() {
      if (!hasEnded()) child.kill("SIGINT");
      await Promise.race([ended, sleep(STOP_MS_MAX, undefined, { ref: false })]);
      if (child.pid !== undefined) killGroup(child.pid);
      await ended;
    },
  };
  const deadlineMs = Date.now() + START_MS_MAX;
  while (!hasEnded() && Date.now() < deadlineMs) {
    if (await isReady(running.log).catch(() => false)) return running;
    await sleep(POLL_MS);
  }
  await running.stop();
  throw new Error(`${args.join(" ")} did not start:\n${running.log}`);
}

/** What is left of a process group that we made. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Nothing is left.
  }
}
