import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ChildEnded, WranglerChild } from "./child.ts";
import type { Captured } from "./child-contract.ts";
import { wranglerFile } from "./load-wrangler.ts";
import type { Answers } from "./wrangler-config.ts";

/** Result of a command of Wrangler's. */
export interface WranglerRun extends Captured {
  /** Wrangler's output file (`WRANGLER_OUTPUT_FILE_PATH`): lines of JSON. */
  readonly report: string;
}

export interface RunOptions {
  /** Variables besides those with which Wrangler was started. They stay set for later commands. */
  readonly env?: NodeJS.ProcessEnv;
  /** Secrets that the command gets as `--secrets-file`, in a file that only this user can open. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Whether it may ask at the terminal. Default: false; then it takes the default answer to each question. */
  readonly asks?: boolean;
}

/** Runs a command of Wrangler's to its end. */
export type RunWrangler = (args: readonly string[], options?: RunOptions) => Promise<WranglerRun>;

/** A Wrangler process for a folder. Calling it runs a command. */
export interface WranglerIn extends RunWrangler, Disposable {
  /** Reads configurations in the process that runs the commands. */
  readonly answers: Answers;
}

/**
 * Starts the installed Wrangler in a folder. One process runs all commands, one after the other. It ends when it is
 * disposed of, or with this process.
 *
 * @param env variables of that process.
 * @param file absolute path of Wrangler's main module. Default: that of the user's Wrangler.
 */
export function wranglerIn(cwd: string, env: NodeJS.ProcessEnv, file: string = wranglerFile()): WranglerIn {
  const folder = mkdtempSync(join(tmpdir(), "sluice-wrangler-"));
  const reportFile = join(folder, "report.ndjson");
  const hasTerminal = canAsk();
  let printed = { out: "", err: "" };
  const child = new WranglerChild({
    cwd,
    // Logs and error texts contain the output, so it has no colours.
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
  /** Reads the output file, to which all commands append. */
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

/** Whether Wrangler would ask questions here: at a terminal, and not on a CI machine. */
export function canAsk({ stdin, stdout, env }: Pick<NodeJS.Process, "stdin" | "stdout" | "env"> = process) {
  return stdin.isTTY === true && stdout.isTTY === true && (env.CI ?? "") === "";
}
