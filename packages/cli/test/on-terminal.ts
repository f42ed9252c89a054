import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { descendants, isRunning } from "./lab.ts";
import { SLUICE } from "./running.ts";

/** Time limit for an output or an end of a command, on a busy machine, in ms. */
export const PATIENCE_MS = 120_000;

/** Whether this machine can open terminals. */
export const HAS_SCRIPT = spawnSync("script", ["--version"]).status === 0;

/** A command on its own terminal, which `script` of util-linux makes. */
export class OnTerminal {
  readonly #child: ChildProcess;
  readonly #waiting = new Set<() => void>();
  output = "";
  /** Its exit code. */
  readonly ended: Promise<number | null>;

  constructor(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv) {
    const command = [process.execPath, SLUICE, ...args].map((part) => `'${part}'`).join(" ");
    // A CI variable would keep Wrangler from reading keys.
    const { CI: _, ...rest } = env;
    this.#child = spawn("script", ["-qefc", command, "/dev/null"], {
      cwd,
      env: rest,
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.output += text;
      for (const check of this.#waiting) check();
    });
    this.ended = new Promise((resolve) => this.#child.once("close", resolve));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** @throws Error with all of its output if it ends before, or does not print the pattern in time. */
  async printed(pattern: RegExp): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const check = () => pattern.test(this.output) && resolve();
    const giveUp = (why: string) => reject(new Error(`${why} before it printed ${pattern}:\n${this.output}`));
    this.#waiting.add(check);
    check();
    void this.ended.then((code) => giveUp(`it ended with ${code}`));
    void setTimeout(PATIENCE_MS, undefined, { ref: false }).then(() => giveUp(`${PATIENCE_MS} ms passed`));
    return promise.finally(() => this.#waiting.delete(check));
  }

  type(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  /**
   * Types Ctrl-C and waits for the end.
   *
   * @throws Error with all of its output if it does not end.
   */
  async interrupt(): Promise<void> {
    this.type("\u0003");
    const ended = this.ended.then(() => true);
    if (await Promise.race([ended, setTimeout(PATIENCE_MS, false, { ref: false })])) return;
    throw new Error(`Ctrl-C does not end it:\n${this.output}`);
  }

  kill(): void {
    for (const pid of [...descendants(this.pid), this.pid]) if (isRunning(pid)) process.kill(pid, "SIGKILL");
  }
}
