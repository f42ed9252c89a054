import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { ChildEnded, WranglerChild } from "./child.ts";
import type { Captured } from "./child-contract.ts";
import { ownFolder, sweepLeftovers } from "./leftovers.ts";
import { wranglerFile } from "./load-wrangler.ts";
import type { Answers } from "./wrangler-config.ts";

/** Result of a command of Wrangler's. */
export interface WranglerRun extends Captured {
  /** Output for programs: lines of JSON. */
  readonly report: string;
}

export interface RunOptions {
  /** Variables besides those that Wrangler was started with. */
  readonly env?: NodeJS.ProcessEnv;
  /** Secrets that the command gets as `--secrets-file`. They are in no file that anybody else can open. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Let it ask at the terminal. Default: nobody can answer, it takes the default of each question. */
  readonly asks?: boolean;
}

/** Runs a command of Wrangler's to its end. */
export type RunWrangler = (args: readonly string[], options?: RunOptions) => Promise<WranglerRun>;

/** Wrangler in a folder. */
export interface WranglerIn extends RunWrangler, Disposable {
  /** Reads configurations in the process that runs the commands. */
  readonly answers: Answers;
}

/**
 * Starts the Wrangler that is installed, in a folder: it runs one command after the other, all in one process, which
 * ends when it is disposed of, or with this one.
 *
 * @param env variables of that process.
 * @param file Wrangler's main module. Absolute.
 */
export function wranglerIn(cwd: string, env: NodeJS.ProcessEnv, file: string = wranglerFile()): WranglerIn {
  let output: Output;
  const child = new WranglerChild(() => {
    sweepLeftovers();
    const folder = ownFolder("wrangler");
    output = new Output(join(folder, "report.ndjson"));
    const { report } = output;
    const hasTerminal = canAsk();
    return {
      cwd,
      // Colours would be in the way of whoever reads a log.
      env: { ...env, NO_COLOR: "1", FORCE_COLOR: "0", WRANGLER_OUTPUT_FILE_PATH: report },
      file,
      folder,
      stdio: [hasTerminal ? "inherit" : "ignore", "pipe", "pipe"],
      ...(hasTerminal ? { terminal: process.stdout.fd } : {}),
      onStart: (its) => output.readFrom(its),
    };
  });
  const run = async (args: readonly string[], { secrets, asks = false, env = {} }: RunOptions) => {
    const captured = child.call("capture", { args, env, secrets: secrets ?? null, asks: asks && canAsk() });
    const its = output;
    its.clear();
    const done = await captured.catch((error: unknown) => {
      if (error instanceof ChildEnded) return { code: error.code, out: its.out, all: its.out + its.err };
      throw error;
    });
    return { ...done, all: done.all.trim(), report: its.takeReport() };
  };
  let last: Promise<unknown> = Promise.resolve();
  const inTurn: RunWrangler = (args, options = {}) => {
    const done = last.then(() => run(args, options));
    last = done.catch(() => undefined);
    return done;
  };
  return Object.assign(inTurn, { answers: child.answers, [Symbol.dispose]: () => child[Symbol.dispose]() });
}

/** Output of a process of Wrangler's. */
class Output {
  /** File that it reports to programs in: it appends to one as long as it lasts. */
  readonly report: string;
  out = "";
  err = "";
  #reported = "";
  #taken = 0;

  constructor(report: string) {
    this.report = report;
  }

  readFrom(child: ChildProcess): void {
    child.stdout?.on("data", (chunk: Buffer) => {
      this.out += chunk;
    });
    child.stderr?.on("data", (chunk: Buffer) => {
      this.err += chunk;
    });
    child.once("close", () => {
      this.#read();
      rmSync(dirname(this.report), { recursive: true, force: true });
    });
  }

  clear(): void {
    this.out = "";
    this.err = "";
  }

  /** Takes what was reported since the last time. */
  takeReport(): string {
    this.#read();
    const report = this.#reported.slice(this.#taken);
    this.#taken = this.#reported.length;
    return report;
  }

  #read(): void {
    if (existsSync(this.report)) this.#reported = readFileSync(this.report, "utf8");
  }
}

/** Whether Wrangler would ask here: a person reads and writes, and it is no machine of CI. */
export function canAsk({ stdin, stdout, env }: Pick<NodeJS.Process, "stdin" | "stdout" | "env"> = process) {
  return stdin.isTTY === true && stdout.isTTY === true && (env.CI ?? "") === "";
}
