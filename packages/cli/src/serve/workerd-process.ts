import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { CliError } from "../errors.ts";
import { SOCKET } from "./workerd-config.ts";
import { noiseFilter } from "./workerd-noise.ts";

export interface WorkerdOptions {
  /** Absolute path of the configuration. */
  readonly configFile: string;
  /** Address and port to listen on; 0 for one that is free. */
  readonly host: string;
  readonly port: number;
  /** Port on 127.0.0.1 for debuggers and profilers; `null` for none. */
  readonly inspectorPort: number | null;
  /** Environment variables that the configuration reads. */
  readonly environment: Readonly<Record<string, string>>;
}

/** A workerd that listens. */
export interface Workerd {
  readonly port: number;
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
/** What workerd (kj) says when the address is somebody else's. */
const IN_USE = /Address already in use/i;
const ERRORS_KEPT = 4_096;

/**
 * Starts workerd and resolves when it listens. What it and the Workers print goes to this process's output.
 *
 * @throws CliError when the port is in use, or with what workerd said before it ended.
 */
export async function startWorkerd(options: WorkerdOptions): Promise<Workerd> {
  const { configFile, host, port, inspectorPort, environment } = options;
  const address = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const args = ["serve", configFile, "--experimental", "--verbose"];
  if (inspectorPort !== null) args.push(`--inspector-addr=127.0.0.1:${inspectorPort}`);
  const child = spawn(workerdPath(), [...args, `--socket-addr=${SOCKET}=${address}`, "--control-fd=3"], {
    // Nothing of ours: a Worker's fromEnvironment bindings are all that reads it.
    env: { ...process.env, PWD: process.cwd(), ...environment },
    stdio: ["ignore", "inherit", "pipe", "pipe"],
    // A terminal's Ctrl-C is for this process, which lets workerd finish.
    detached: true,
  });
  const errors = forwardErrors(child);
  const ended = exitCode(child);
  const watchdog = spawn(process.execPath, ["-e", STOP_WITH_PARENT, String(child.pid)], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  watchdog.unref();
  void ended.catch(() => undefined).then(() => watchdog.kill());
  const listening = await Promise.race([reportedPort(child), ended]);
  if (typeof listening === "object") {
    return { port: listening.port, ended, kill: (signal) => void child.kill(signal) };
  }
  throw new CliError(
    IN_USE.test(errors())
      ? `${address} is in use by another process. Choose another port with --port.`
      : `workerd ended with ${listening} before it listened on ${address}.`,
  );
}

function workerdPath(): string {
  // The package is CommonJS with an ES module's default export.
  return (createRequire(import.meta.url)("workerd") as { readonly default: string }).default;
}

/** Passes standard error on, but for what is noise; answers its end. */
function forwardErrors(child: ChildProcess): () => string {
  let last = "";
  const isNoise = noiseFilter();
  createInterface({ input: child.stderr as Readable }).on("line", (line) => {
    if (isNoise(line)) return;
    last = `${last}${line}\n`.slice(-ERRORS_KEPT);
    process.stderr.write(`${line}\n`);
  });
  return () => last;
}

/** workerd reports the port it got as a line of JSON on the control descriptor. */
function reportedPort(child: ChildProcess): Promise<{ readonly port: number }> {
  return new Promise((resolve) => {
    createInterface({ input: child.stdio[3] as Readable }).on("line", (line) => {
      const message = JSON.parse(line) as { readonly event: string; readonly port: number };
      if (message.event === "listen") resolve({ port: message.port });
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
