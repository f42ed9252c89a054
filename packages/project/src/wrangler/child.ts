import { type ChildProcess, fork } from "node:child_process";
import { constants } from "node:os";
import { CliError } from "../errors.ts";
import { ownModule } from "../own-module.ts";
import type { Call, LateError, Methods, Reply } from "./child-contract.ts";
import { type Guard, startGuard } from "./guard.ts";
import { LATE, notAtItsEnd, READING_MS_MAX, within } from "./reading-limit.ts";
import { type Answers, endedBy } from "./wrangler-config.ts";

/** Options of the process in which Wrangler is loaded. */
export interface ChildOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Wrangler's main module. Absolute. */
  readonly file: string;
  /** Its standard streams. */
  readonly stdio: readonly ["inherit" | "ignore", "inherit" | "pipe", "inherit" | "pipe"];
  /** Descriptor of the terminal for questions. Default: none are asked. */
  readonly terminal?: number;
  /** Time limit for reading a `cloudflare.config.ts` once Wrangler is loaded, in ms. Default: 20,000. */
  readonly readingMsMax?: number;
  /** Called before a process is killed because a `cloudflare.config.ts` keeps it from answering. */
  readonly onStuck?: () => void;
  /** Called with each started process. */
  readonly onStart: (child: ChildProcess) => void;
}

/** Time limit for an answer, in ms, after which a process counts as stuck. */
const PONG_MS_MAX = 2_000;

/** Signals that a terminal sends to this process's group alone: to stop, to continue, and for its new size. */
const TERMINAL_SIGNALS = ["SIGTSTP", "SIGCONT", "SIGWINCH"] as const;

/** Thrown where Wrangler's process has ended before it answered. */
export class ChildEnded extends Error {
  /** Exit code; 128 + n if signal n ended it, as in shells. */
  readonly code: number;
  /** Whether `kill` has sent it a signal before. */
  readonly wasSignalled: boolean;

  constructor(code: number, wasSignalled: boolean) {
    super(`Wrangler has ended with exit code ${code}.`);
    this.code = code;
    this.wasSignalled = wasSignalled;
  }
}

/**
 * A process (`host.ts`) that loads Wrangler, reads configurations by it, and runs its commands. It has its own process
 * group, which is killed with it. After its end the next call starts another process.
 */
export class WranglerChild implements Disposable {
  /** Kills the process and deletes temporary files when this process has ended. */
  readonly guard: Guard;
  readonly #options: ChildOptions;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #child: ChildProcess | null = null;
  #isSignalled = false;
  #calls = 0;

  /** Starts the process, which begins to load Wrangler. */
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
    // A failure to send is ignored: the process is ending, and its end rejects the call.
    child.send({ id, method, args } satisfies Call, () => {});
    return answer.promise as ReturnType<Methods[Name]>;
  }

  /**
   * Reads a module within a time limit. If the process does not answer other calls either, as in an endless loop of the
   * module, it is killed.
   */
  async #readModule<T>(file: string, read: () => Promise<T>): Promise<T> {
    const { readingMsMax = READING_MS_MAX, onStuck } = this.#options;
    // The limit starts once Wrangler is loaded, which takes long on a busy machine and precedes the answer to this
    // call.
    const loading = this.call("defaults");
    const reading = read();
    reading.catch(() => {});
    try {
      await loading.catch(() => {});
      const result = await within(reading, readingMsMax);
      if (result !== LATE) return result;
    } catch (error) {
      if (!(error instanceof ChildEnded) || error.wasSignalled) throw error;
      throw new CliError(endedBy(file, error.code));
    }
    if ((await within(this.call("defaults"), PONG_MS_MAX)) === LATE) {
      onStuck?.();
      this.kill("SIGKILL");
    }
    throw notAtItsEnd(file, readingMsMax);
  }

  /** Sends a signal. Processes that it has started are killed when it ends. */
  kill(signal: NodeJS.Signals): void {
    this.#isSignalled = true;
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
      // On Windows a detached process would open a window.
      detached: process.platform !== "win32",
      stdio: [...stdio, "ipc", ...(terminal === undefined ? [] : [terminal])],
    });
    this.#child = child;
    this.#isSignalled = false;
    const { pid = 0 } = child;
    child.once("spawn", () => this.guard.add(-pid));
    const forward = (signal: NodeJS.Signals) => {
      signalGroup(child, signal === "SIGTSTP" ? "SIGSTOP" : signal);
      if (signal === "SIGTSTP") process.kill(process.pid, "SIGSTOP");
    };
    for (const signal of TERMINAL_SIGNALS) process.on(signal, forward);
    const end = (error: Error) => {
      for (const signal of TERMINAL_SIGNALS) process.off(signal, forward);
      if (this.#child === child) this.#child = null;
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
    };
    child.on("message", (message: Reply | LateError | string) => {
      if (typeof message !== "object") return;
      if ("id" in message) this.#settle(message);
      if ("late" in message) console.warn(message.late);
    });
    child.once("error", end);
    child.once("exit", () => {
      signalGroup(child, "SIGKILL");
      this.guard.drop(-pid);
    });
    // Not "exit", after which its last messages may still arrive.
    child.once("close", (code, signal) =>
      end(new ChildEnded(code ?? 128 + (signal === null ? 0 : constants.signals[signal]), this.#isSignalled)),
    );
    onStart(child);
    return child;
  }

  #settle({ id, result, error }: Reply): void {
    const answer = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) answer?.resolve(result);
    else if (error.isCliError) answer?.reject(new CliError(error.message));
    else answer?.reject(Object.assign(new Error(error.message), { stack: error.stack }));
  }
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch {
    // It has ended already.
  }
}
