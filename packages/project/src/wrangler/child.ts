import { type ChildProcess, fork } from "node:child_process";
import { constants } from "node:os";
import { CliError } from "../errors.ts";
import { ownModule } from "../own-module.ts";
import type { Call, LateError, Methods, Reply } from "./child-contract.ts";
import { type Guard, startGuard } from "./guard.ts";
import { LATE, notAtItsEnd, READING_MS_MAX, within } from "./reading-limit.ts";
import { type Answers, endedBy } from "./wrangler-config.ts";

/** How the process that Wrangler is loaded in is started. */
export interface ChildOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Wrangler's main module. Absolute. */
  readonly file: string;
  /** Its standard streams. */
  readonly stdio: readonly ["inherit" | "ignore", "inherit" | "pipe", "inherit" | "pipe"];
  /** Descriptor of the terminal to ask at. */
  readonly terminal?: number;
  /** How long a `cloudflare.config.ts` may take to be read once Wrangler is loaded, in ms. Default: 20,000. */
  readonly readingMsMax?: number;
  /** Called before a process is ended that a `cloudflare.config.ts` keeps from answering. */
  readonly onStuck?: () => void;
  /** Called with each process that is started. */
  readonly onStart: (child: ChildProcess) => void;
}

/** How long a process that is not stuck may take for an answer, in ms. */
const PONG_MS_MAX = 2_000;

/** Signals by which a terminal tells the group of this process alone to stop, to go on, and its new size. */
const TERMINAL_SIGNALS = ["SIGTSTP", "SIGCONT", "SIGWINCH"] as const;

/** Thrown where Wrangler's process has ended before it answered. */
export class ChildEnded extends Error {
  /** Exit code, 128 + n if signal n ended it, as shells count. */
  readonly code: number;
  /** Whether it was sent a signal by `kill`. */
  readonly wasTold: boolean;

  constructor(code: number, wasTold: boolean) {
    super(`Wrangler has ended with exit code ${code}.`);
    this.code = code;
    this.wasTold = wasTold;
  }
}

/**
 * A process that has loaded Wrangler, reads configurations by it, and runs its commands. It has a process group of its
 * own and is ended with everything in it. Where it has ended, the next call starts another one.
 */
export class WranglerChild implements Disposable {
  /** Ends the process, and deletes what it is told, when this one has ended. */
  readonly guard: Guard;
  readonly #options: ChildOptions;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #child: ChildProcess | null = null;
  #isTold = false;
  #calls = 0;

  /** Starts the process, which loads Wrangler meanwhile. */
  constructor(options: ChildOptions) {
    this.#options = options;
    this.#start();
    this.guard = startGuard();
  }

  readonly answers: Answers = {
    readConfig: (...args) => this.call("readConfig", ...args),
    readCloudflareConfig: (file, mode) =>
      this.#readModule(file, () => this.call("readCloudflareConfig", file, mode)),
    readBuildOutput: (...args) => this.call("readBuildOutput", ...args),
    writeCloudflareTypes: (...args) => this.call("writeCloudflareTypes", ...args),
    defaults: () => this.call("defaults"),
    variablesForDev: (...args) => this.call("variablesForDev", ...args),
    exportsOf: (file) => this.call("exportsOf", file),
  };

  /** @throws ChildEnded where the process ends before it has answered. */
  call<Name extends keyof Methods>(
    method: Name,
    ...args: Parameters<Methods[Name]>
  ): ReturnType<Methods[Name]> {
    const child = this.#child ?? this.#start();
    const id = this.#calls++;
    const answer = Promise.withResolvers<unknown>();
    this.#waiting.set(id, answer);
    // Where the process is ending, its end answers the call.
    child.send({ id, method, args } satisfies Call, () => {});
    return answer.promise as ReturnType<Methods[Name]>;
  }

  /**
   * Waits for a module to be read, but not for ever. Where the process answers nothing else either, as in an endless
   * loop of the module's, it is ended.
   */
  async #readModule<T>(file: string, read: () => Promise<T>): Promise<T> {
    const { readingMsMax = READING_MS_MAX, onStuck } = this.#options;
    // Answered once Wrangler is loaded, which takes long on a busy machine.
    const loading = this.call("defaults");
    const reading = read();
    reading.catch(() => {});
    try {
      await loading.catch(() => {});
      const result = await within(reading, readingMsMax);
      if (result !== LATE) return result;
    } catch (error) {
      if (!(error instanceof ChildEnded) || error.wasTold) throw error;
      throw new CliError(endedBy(file, error.code));
    }
    if ((await within(this.call("defaults"), PONG_MS_MAX)) === LATE) {
      onStuck?.();
      this.kill("SIGKILL");
    }
    throw notAtItsEnd(file, readingMsMax);
  }

  /** Sends a signal. What the process has started ends with it. */
  kill(signal: NodeJS.Signals): void {
    this.#isTold = true;
    this.#child?.kill(signal);
  }

  [Symbol.dispose](): void {
    this.kill("SIGKILL");
    this.guard[Symbol.dispose]();
  }

  #start(): ChildProcess {
    const { cwd, env, file, stdio, terminal, onStart } = this.#options;
    const child = fork(ownModule(new URL("./host.ts", import.meta.url), "wrangler/host.js"), [file], {
      cwd,
      env,
      execArgv: ["--no-warnings"],
      serialization: "advanced",
      // On Windows that would open a window.
      detached: process.platform !== "win32",
      stdio: [...stdio, "ipc", ...(terminal === undefined ? [] : [terminal])],
    });
    this.#child = child;
    this.#isTold = false;
    const { pid = 0 } = child;
    child.once("spawn", () => this.guard.add(-pid));
    const passOn = (signal: NodeJS.Signals) => {
      signalGroup(child, signal === "SIGTSTP" ? "SIGSTOP" : signal);
      if (signal === "SIGTSTP") process.kill(process.pid, "SIGSTOP");
    };
    for (const signal of TERMINAL_SIGNALS) process.on(signal, passOn);
    const over = (error: Error) => {
      for (const signal of TERMINAL_SIGNALS) process.off(signal, passOn);
      if (this.#child === child) this.#child = null;
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    };
    child.on("message", (message: Reply | LateError | string) => {
      if (typeof message !== "object") return;
      if ("id" in message) this.#settle(message);
      if ("late" in message) console.warn(message.late);
    });
    child.once("error", over);
    child.once("exit", () => {
      signalGroup(child, "SIGKILL");
      this.guard.drop(-pid);
    });
    // Not "exit": what it has sent last is still on its way then.
    child.once("close", (code, signal) =>
      over(new ChildEnded(code ?? 128 + (signal === null ? 0 : constants.signals[signal]), this.#isTold)),
    );
    onStart(child);
    return child;
  }

  #settle({ id, result, error }: Reply): void {
    const answer = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) answer?.resolve(result);
    else if (error.isTheirs) answer?.reject(new CliError(error.message));
    else answer?.reject(Object.assign(new Error(error.message), { stack: error.stack }));
  }
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch {
    // It has ended by itself.
  }
}
