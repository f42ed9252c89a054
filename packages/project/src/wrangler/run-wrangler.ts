import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ChildEnded, WranglerChild } from "./child.ts";
import type { Captured } from "./child-contract.ts";
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
  const folder = mkdtempSync(join(tmpdir(), "sluice-wrangler-"));
  const reportFile = join(folder, "report.ndjson");
  const hasTerminal = canAsk();
  let printed = { out: "", err: "" };
  const child = new WranglerChild({
    cwd,
    // Colours would be in the way of whoever reads a log.
    env: { ...env, NO_COLOR: "1", FORCE_COLOR: "0", WRANGLER_OUTPUT_FILE_PATH: reportFile },
    file,
    stdio: [hasTerminal ? "inherit" : "ignore", "pipe", "pipe"],
    ...(hasTerminal ? { terminal: process.stdout.fd } : {}),
    onStart: ({ stdout, stderr }) => {
      stdout?.on("data", (chunk: Buffer) => {
        printed.out += chunk;
      });
      stderr?.on("data", (chunk: Buffer) => {
        printed.err += chunk;
      });
    },
  });
  child.guard.addFile(folder);
  /** Reads all that Wrangler has reported to programs so far: it appends to one file. */
  const report = () => (existsSync(reportFile) ? readFileSync(reportFile, "utf8") : "");
  const run = async (args: readonly string[], { secrets, asks = false, env = {} }: RunOptions) => {
    const from = report().length;
    printed = { out: "", err: "" };
    const done = await child
      .call("capture", { args, env, secrets: secrets ?? null, folder, asks: asks && canAsk() })
      .catch((error: unknown) => {
        if (!(error instanceof ChildEnded)) throw error;
        return { code: error.code, out: printed.out, all: printed.out + printed.err };
      });
    return { ...done, all: done.all.trim(), report: report().slice(from) };
  };
  let last: Promise<unknown> = Promise.resolve();
  const inTurn: RunWrangler = (args, options = {}) => {
    const done = last.then(() => run(args, options));
    last = done.catch(() => undefined);
    return done;
  };
  return Object.assign(inTurn, { answers: child.answers, [Symbol.dispose]: () => child[Symbol.dispose]() });
}

/** Whether Wrangler would ask here: a person reads and writes, and it is no machine of CI. */
export function canAsk({ stdin, stdout, env }: Pick<NodeJS.Process, "stdin" | "stdout" | "env"> = process) {
  return stdin.isTTY === true && stdout.isTTY === true && (env.CI ?? "") === "";
}
