import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { ownModule } from "../own-module.ts";
import { ownFolder, sweepLeftovers } from "./leftovers.ts";
import { wranglerFile } from "./load-wrangler.ts";

/** Result of a command of Wrangler's. */
export interface WranglerRun {
  readonly code: number;
  /** Standard output alone. */
  readonly out: string;
  /** Everything that it printed. */
  readonly all: string;
  /** Output for programs: lines of JSON. */
  readonly report: string;
}

export interface RunOptions {
  /** Secrets that the command gets as `--secrets-file`. They are in no file that anybody else can open. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Let it ask at the terminal. Default: nobody can answer, it takes the default of each question. */
  readonly asks?: boolean;
}

/** Runs a command of Wrangler's to its end. */
export type RunWrangler = (args: readonly string[], options?: RunOptions) => Promise<WranglerRun>;

/** A command as the process that runs it is told. */
export interface Command {
  readonly args: readonly string[];
  readonly secrets: Readonly<Record<string, string>> | null;
  readonly asks: boolean;
}

/** A pipe to the process that runs commands. It closes with the end of this one, and then that one ends as well. */
export const LIFELINE_FD = 4;
/** The terminal, in a process whose commands may ask. */
export const TERMINAL_FD = 5;

/**
 * Runs the Wrangler that is installed, in a folder: one command after the other, all in one process, which ends when it
 * is disposed of, or with this one.
 *
 * @param env variables of that process.
 * @param file Wrangler's main module. Absolute.
 */
export function wranglerIn(
  cwd: string,
  env: NodeJS.ProcessEnv,
  file: string = wranglerFile(),
): RunWrangler & Disposable {
  let host: ChildProcess | null = null;
  let last: Promise<unknown> = Promise.resolve();
  const run = (args: readonly string[], { secrets, asks = false }: RunOptions) =>
    new Promise<WranglerRun>((resolve, reject) => {
      host ??= startHost(cwd, env, file);
      const running = host;
      let printed = "";
      const read = (chunk: Buffer) => {
        printed += chunk;
      };
      const settle = () => {
        running.removeAllListeners();
        for (const stream of [running.stdout, running.stderr]) stream?.off("data", read);
      };
      for (const stream of [running.stdout, running.stderr]) stream?.on("data", read);
      running.once("message", (done: WranglerRun) => {
        settle();
        resolve({ ...done, all: done.all.trim() });
      });
      running.once("error", (error) => {
        settle();
        reject(error);
      });
      // A command that ends its process ends this one; the next command gets another.
      running.once("close", (code) => {
        settle();
        host = null;
        resolve({ code: code === 0 || code === null ? 1 : code, out: "", all: printed.trim(), report: "" });
      });
      running.send({ args, secrets: secrets ?? null, asks: asks && canAsk() } satisfies Command);
    });
  const inTurn: RunWrangler = (args, options = {}) => {
    const done = last.then(() => run(args, options));
    last = done.catch(() => undefined);
    return done;
  };
  return Object.assign(inTurn, { [Symbol.dispose]: () => host?.stdio[LIFELINE_FD]?.destroy() });
}

/** Whether Wrangler would ask here: a person reads and writes, and it is no machine of CI. */
export function canAsk({ stdin, stdout, env }: Pick<NodeJS.Process, "stdin" | "stdout" | "env"> = process) {
  return stdin.isTTY === true && stdout.isTTY === true && (env.CI ?? "") === "";
}

function startHost(cwd: string, env: NodeJS.ProcessEnv, file: string): ChildProcess {
  sweepLeftovers();
  const folder = ownFolder("wrangler");
  const report = join(folder, "report.ndjson");
  const hasTerminal = canAsk();
  return fork(ownModule(new URL("./host.ts", import.meta.url), "wrangler/host.js"), [file, report], {
    cwd,
    // Colours would be in the way of whoever reads a log.
    env: { ...env, NO_COLOR: "1", FORCE_COLOR: "0", WRANGLER_OUTPUT_FILE_PATH: report },
    execArgv: ["--no-warnings"],
    stdio: [
      hasTerminal ? "inherit" : "ignore",
      "pipe",
      "pipe",
      "ipc",
      "pipe",
      ...(hasTerminal ? [process.stdout.fd] : []),
    ],
  });
}
