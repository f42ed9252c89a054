import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { CliError } from "../errors.ts";
import { forwardLines } from "./forward-lines.ts";
import { SOCKETS, type SocketName } from "./workerd-config.ts";
import { noiseFilter } from "./workerd-noise.ts";

export interface WorkerdOptions {
  /** Absolute path of the configuration. */
  readonly configFile: string;
  /** Port on 127.0.0.1 for debuggers and profilers; `null` for none. */
  readonly inspectorPort: number | null;
  /** Environment variables that the configuration reads. */
  readonly environment: Readonly<Record<string, string>>;
  /** Makes of a line that it or a Worker prints what is to be printed. */
  readonly rewrite: (line: string) => string;
}

/** A workerd that listens, on this machine alone. */
export interface Workerd {
  readonly ports: Readonly<Record<SocketName, number>>;
  /** Exit code once it has ended, 128 + n if signal n ended it, as shells count. */
  readonly ended: Promise<number>;
  kill(signal: NodeJS.Signals): void;
}

/**
 * Waits in a process of its own for the end of this one, and takes workerd along: killed outright, we cannot. It has a
 * session of its own, so that no Ctrl-C ends it before us.
 */
const STOP_WITH_PARENT = `
  process.stdin.on("end", () => { try { process.kill(Number(process.argv[1]), "SIGKILL"); } catch {} }).resume();
`;
/**
 * Starts workerd and resolves when it listens. What it and the Workers print goes to this process's output.
 *
 * @throws CliError when it ends before.
 */
export async function startWorkerd(options: WorkerdOptions): Promise<Workerd> {
  const { configFile, inspectorPort, environment, rewrite } = options;
  const args = ["serve", configFile, "--experimental", "--verbose"];
  if (inspectorPort !== null) args.push(`--inspector-addr=127.0.0.1:${inspectorPort}`);
  for (const name of SOCKETS) args.push(`--socket-addr=${name}=127.0.0.1:0`);
  const child = spawn(workerdPath(), [...args, "--control-fd=3"], {
    // Nothing of ours: a Worker's fromEnvironment bindings are all that reads it.
    env: { ...colours(), ...process.env, PWD: process.cwd(), ...environment },
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    // A terminal's Ctrl-C is for this process, which lets workerd finish.
    detached: true,
  });
  const isNoise = noiseFilter();
  const printed = Promise.all([
    forwardLines(child.stdout as Readable, process.stdout, rewrite),
    forwardLines(child.stderr as Readable, process.stderr, (line) => (isNoise(line) ? null : rewrite(line))),
  ]);
  const ended = exitCode(child).finally(() => printed);
  const watchdog = spawn(process.execPath, ["-e", STOP_WITH_PARENT, String(child.pid)], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  watchdog.unref();
  void ended.catch(() => undefined).then(() => watchdog.kill());
  const listening = await Promise.race([reportedPorts(child), ended]);
  if (typeof listening === "object") {
    return { ports: listening, ended, kill: (signal) => void child.kill(signal) };
  }
  throw new CliError(`workerd ended with ${listening} before it listened.`);
}

function workerdPath(): string {
  // The package is CommonJS with an ES module's default export.
  return (createRequire(import.meta.url)("workerd") as { readonly default: string }).default;
}

/** Its output is ours: it is to be as colourful on our terminal as it would be on its own. */
function colours(): NodeJS.ProcessEnv {
  const isTerminal = process.stdout.isTTY && process.stderr.isTTY;
  return isTerminal && process.env.NO_COLOR === undefined ? { FORCE_COLOR: "1" } : {};
}

interface ControlMessage {
  readonly event: string;
  readonly socket: SocketName;
  readonly port: number;
}

/** workerd reports each port that it got as a line of JSON on the control descriptor. */
function reportedPorts(child: ChildProcess): Promise<Readonly<Record<SocketName, number>>> {
  const ports: Partial<Record<SocketName, number>> = {};
  return new Promise((resolve) => {
    createInterface({ input: child.stdio[3] as Readable }).on("line", (line) => {
      const { event, socket, port } = JSON.parse(line) as ControlMessage;
      if (event === "listen") ports[socket] = port;
      const { http, frames } = ports;
      if (http !== undefined && frames !== undefined) resolve({ http, frames });
    });
  });
}

function exitCode(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    // Not "exit": what it said last is still on its way then.
    child.once("close", (code, signal) =>
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])),
    );
  });
}
