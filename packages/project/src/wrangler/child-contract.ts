import type { Answers } from "./wrangler-config.ts";

/** The terminal, in a process whose commands may ask. */
export const TERMINAL_FD = 4;

/** A command whose output is kept. */
export interface CapturedCommand {
  readonly args: readonly string[];
  /** Variables besides those of the process. */
  readonly env: NodeJS.ProcessEnv;
  readonly secrets: Readonly<Record<string, string>> | null;
  /** Folder for a file of secrets, that only this user can look into. */
  readonly folder: string;
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

/** Methods of the process that Wrangler is loaded in. */
export interface Methods extends Answers {
  capture(command: CapturedCommand): Promise<Captured>;
  /** Runs the last command of the process, which has its streams for itself. */
  show(command: Pick<CapturedCommand, "args" | "env">): Promise<never>;
  /**
   * Calls a function of a module of ours in that process.
   *
   * @param module URL of the module.
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
    readonly isTheirs: boolean;
  };
}

/** Message of the process that a module which it has run has failed since, in a line for people. */
export interface LateError {
  readonly late: string;
}
