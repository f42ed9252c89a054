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

/** The last command of a process, which has its streams for itself. */
export interface ShownCommand extends Pick<CapturedCommand, "args" | "env"> {
  /** URL of a module whose `prepare` is called with the settings before the command begins. */
  readonly module: string;
  readonly settings: unknown;
}

/** Methods of the process that Wrangler is loaded in. */
export interface Methods extends Answers {
  capture(command: CapturedCommand): Promise<Captured>;
  show(command: ShownCommand): Promise<never>;
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
