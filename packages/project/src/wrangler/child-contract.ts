import type { Answers } from "./wrangler-config.ts";

/** Descriptor of the terminal in a process whose commands may ask questions. */
export const TERMINAL_FD = 4;

/** A command whose output is captured. */
export interface CapturedCommand {
  readonly args: readonly string[];
  /** Variables besides those of the process. */
  readonly env: NodeJS.ProcessEnv;
  readonly secrets: Readonly<Record<string, string>> | null;
  /** Folder for a file of secrets, which only this user can read. */
  readonly folder: string;
  /** Whether it may ask questions at the terminal. */
  readonly asks: boolean;
}

/** Outcome of a command. */
export interface Captured {
  readonly code: number;
  /** Standard output alone. */
  readonly out: string;
  /** Everything that it printed. */
  readonly all: string;
}

/** Methods of the process in which Wrangler is loaded. */
export interface Methods extends Answers {
  capture(command: CapturedCommand): Promise<Captured>;
  /** Runs a command whose output is not captured, and ends the process with it. */
  show(command: Pick<CapturedCommand, "args" | "env">): Promise<never>;
  /**
   * Calls a function of one of our modules in that process.
   *
   * @param module URL of the module.
   * @param name name of the exported function.
   */
  inside(module: string, name: string, argument: unknown): Promise<unknown>;
}

export interface Call {
  readonly id: number;
  readonly method: keyof Methods;
  readonly args: readonly unknown[];
}

/** Answer to a call. */
export interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: {
    readonly message: string;
    readonly stack: string | undefined;
    /** Whether it was a `CliError`, whose cause the user can mend. */
    readonly isCliError: boolean;
  };
}

/** Message that a module which the process has run for a configuration has failed later (`late-errors.ts`). */
export interface LateError {
  /** Line for people. */
  readonly late: string;
}
