import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";

/** Address that `wrangler dev` has come to listen on. */
export interface Listening {
  readonly host: string;
  readonly port: number;
}

export interface WranglerOptions {
  /** Arguments after `wrangler`. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly onListening: (listening: Listening) => void;
}

/** A running Wrangler. */
export interface WranglerProcess {
  /** Its exit code once it has ended, 128 + n if signal n ended it, as shells count. */
  readonly ended: Promise<number>;
  kill(signal: NodeJS.Signals): void;
}

/**
 * Runs in Wrangler's process before Wrangler. Wrangler stops workerd when it is told to stop; if we are killed outright
 * nobody tells it, but the channel between us closes and the process gets another parent, and then it tells itself.
 * Wrangler closes the channel too when it ends by itself, and must not be disturbed then.
 */
const STOP_WITH_PARENT = `
  const parent = process.ppid;
  const stopIfAlone = () => process.ppid === parent || process.kill(process.pid, "SIGTERM");
  process.on("disconnect", () => setTimeout(stopIfAlone, 200).unref());
  process.channel?.unref();
`;

/** Starts Wrangler on the terminal of this process: its output, colours and keys are its own. */
export function startWrangler({ args, env, onListening }: WranglerOptions): WranglerProcess {
  const cli = createRequire(import.meta.url).resolve("wrangler");
  const before = `data:text/javascript,${encodeURIComponent(STOP_WITH_PARENT)}`;
  // Node.js takes an --env-file for its own wherever it stands, up to this "--".
  const child = spawn(process.execPath, ["--no-warnings", "--import", before, "--", cli, ...args], {
    env,
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  });
  child.on("message", (message) => {
    const listening = parseReady(message);
    if (listening !== null) onListening(listening);
  });
  return { ended: exitCode(child), kill: (signal) => void child.kill(signal) };
}

/** Wrangler tells a parent by IPC when it listens: a JSON string with the event `DEV_SERVER_READY`. */
export function parseReady(message: unknown): Listening | null {
  if (typeof message !== "string") return null;
  try {
    const { event, ip, port } = JSON.parse(message) as Partial<Record<string, unknown>>;
    if (event !== "DEV_SERVER_READY" || typeof ip !== "string" || typeof port !== "number") return null;
    return { host: ip, port };
  } catch {
    return null;
  }
}

function exitCode(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) =>
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])),
    );
  });
}
