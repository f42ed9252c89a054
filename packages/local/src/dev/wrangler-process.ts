import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { pathToFileURL } from "node:url";
import { ownModule } from "@sluice/project/own-module";
import { wranglerFile } from "@sluice/project/wrangler/load-wrangler";
import { fromInside, type InsideSettings, type WorkerdEvent } from "./inside/contract.ts";
import type { LinesContext } from "./inside/wrangler-lines.ts";

/** Address that `wrangler dev` has come to listen on. */
export interface Listening {
  readonly host: string;
  readonly port: number;
}

export interface WranglerOptions {
  /** Arguments after `wrangler`. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Names and paths by which its lines are told apart. */
  readonly lines: LinesContext;
  readonly onListening: (listening: Listening) => void;
  /** A socket of Wrangler's own choice was another server's: it does not get to listen. */
  readonly onSocketInUse: () => void;
  /** Listener for the events of the workerd whose configuration has the text `mark` in it. */
  readonly workerd: { readonly mark: string; on(event: WorkerdEvent): void };
}

/** A running Wrangler. */
export interface WranglerProcess {
  /**
   * Its exit code once it has ended, 128 + n if signal n ended it, as shells count. Nothing that it started runs then.
   */
  readonly ended: Promise<number>;
  /** Ends it for good, as a signal does. */
  kill(signal: NodeJS.Signals): void;
  /** Ends it to make room for another one. */
  stop(): void;
}

/**
 * Starts Wrangler in a process of its own, on the terminal of this one: its colours and keys are its own, its lines go
 * through a filter.
 */
export function startWrangler(options: WranglerOptions): WranglerProcess {
  const { args, env, lines, onListening, onSocketInUse, workerd } = options;
  const cli = wranglerFile();
  const settings: InsideSettings = { lines, wrangler: cli, workerdMark: workerd.mark };
  const inside = pathToFileURL(
    ownModule(new URL("./inside/main.ts", import.meta.url), "dev/inside/main.js"),
  ).href;
  const before = `import { prepare } from ${JSON.stringify(inside)}; prepare(${JSON.stringify(settings)});`;
  // Node.js takes an --env-file for its own wherever it stands, up to this "--".
  const child = spawn(
    process.execPath,
    ["--no-warnings", "--import", `data:text/javascript,${encodeURIComponent(before)}`, "--", cli, ...args],
    { env, stdio: ["inherit", "inherit", "inherit", "ipc"] },
  );
  const children = new Set<number>();
  child.on("message", (message) => {
    const listening = parseReady(message);
    if (listening !== null) onListening(listening);
    const told = fromInside(message);
    if (told?.sluice === "child-started") children.add(told.pid);
    if (told?.sluice === "child-ended") children.delete(told.pid);
    if (told?.sluice === "socket-in-use") onSocketInUse();
    if (told?.sluice === "workerd") workerd.on(told.event);
  });
  const endChildren = () => {
    for (const pid of children) endProcess(pid);
  };
  const endAll = () => {
    child.kill("SIGKILL");
    endChildren();
  };
  process.once("exit", endAll);
  const ended = exitCode(child).finally(() => {
    process.off("exit", endAll);
    endChildren();
  });
  return { ended, kill: (signal) => void child.kill(signal), stop: () => void child.kill("SIGTERM") };
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
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
