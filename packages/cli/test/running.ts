import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Time limit for an expected output of a command, on a busy machine, in ms. */
const PATIENCE_MS = 120_000;

/** A command that runs for a test, with its output so far. */
export class Running {
  readonly #child: ChildProcess;
  readonly #waiting = new Set<() => void>();
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
  output = "";

  /**
   * @param shell shell command to run first, such as `ulimit`. Default: none.
   * @param program program to run. Default: Node.js.
   */
  constructor(
    args: readonly string[],
    cwd: string,
    env: NodeJS.ProcessEnv,
    shell = "",
    program = process.execPath,
  ) {
    const stdio: StdioOptions = ["ignore", "pipe", "pipe"];
    this.#child =
      shell === ""
        ? spawn(program, args, { cwd, env, stdio })
        : spawn("/bin/sh", ["-c", `${shell} && exec "$0" "$@"`, program, ...args], { cwd, env, stdio });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        this.output += text;
        for (const check of this.#waiting) check();
      });
    }
    this.ended = new Promise((resolve, reject) => {
      this.#child.once("error", reject);
      // Not "exit": the last output is still on its way then.
      this.#child.once("close", (code, signal) => resolve(code ?? signal ?? "SIGKILL"));
      // A killed process prints no more, but processes that it started may hold its streams forever.
      this.#child.once("exit", (_, signal) => signal === "SIGKILL" && resolve(signal));
    });
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error("the command did not start");
    return this.#child.pid;
  }

  /**
   * Resolves with the output from `from` on as soon as it matches. Rejects with all output if the command ends before,
   * or takes too long.
   */
  async printed(pattern: RegExp, from = 0): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const check = () => pattern.test(this.output.slice(from)) && resolve(this.output.slice(from));
    const giveUp = (why: string) => reject(new Error(`${why} before it printed ${pattern}:\n${this.output}`));
    const timer = setTimeout(() => giveUp(`${PATIENCE_MS} ms passed`), PATIENCE_MS);
    void this.ended.then((code) => giveUp(`it ended with ${code}`));
    this.#waiting.add(check);
    check();
    return promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(check);
    });
  }

  /** Stops reading its standard output after the first chunk. */
  async closeOutput(): Promise<void> {
    await this.printed(/\n/);
    this.#child.stdout?.destroy();
  }

  /** Stops reading its output, as a killed program does. */
  leave(): void {
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
  }

  /** Sends a signal and waits for the end. */
  async stop(signal: NodeJS.Signals = "SIGINT"): Promise<number | NodeJS.Signals> {
    this.#child.kill(signal);
    return this.ended;
  }
}

/** Entry of the command that the run of the tests has built. */
export const COMMAND_VARIABLE = "SLUICE_TEST_COMMAND";
/** The command as it was built for this run of the tests, else its source. */
export const SLUICE = process.env[COMMAND_VARIABLE] ?? join(import.meta.dirname, "../src/main.ts");
const WRANGLER = createRequire(import.meta.url).resolve("wrangler");
/** Wrangler as `npx` runs it. */
export const WRANGLER_BIN = join(dirname(WRANGLER), "../bin/wrangler.js");

/** Runs `sluice`. */
export function sluice(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Running {
  return new Running([SLUICE, ...args], cwd, env);
}

/** Runs the real `wrangler`, as a user would. */
export function wrangler(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Running {
  return new Running(["--no-warnings", WRANGLER, ...args], cwd, env);
}
