import { createInterface } from "node:readline/promises";
import type { Readable } from "node:stream";
import { CliError, EXIT_NOT_CONFIRMED } from "@sluice/project/errors";

/** Parts of the process that a command uses, which tests replace. */
export interface Surroundings {
  /** Absolute path of the current folder. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Standard input. */
  readonly input: Readable;
  /** Whether a person can answer questions. */
  readonly isInteractive: boolean;
  /** Whether standard error is a terminal, which shows progress. */
  readonly showsProgress: boolean;
  /**
   * Asks on standard error, so that standard output stays data.
   *
   * @throws CliError with `EXIT_NOT_CONFIRMED` where Ctrl-C or the end of the input comes instead of an answer.
   */
  ask(question: string): Promise<string>;
}

/** Reads the surroundings of this process. */
export function processSurroundings(): Surroundings {
  const { stdin, stderr, env } = process;
  return {
    cwd: process.cwd(),
    env,
    input: stdin,
    isInteractive: stdin.isTTY === true && stderr.isTTY === true,
    showsProgress: stderr.isTTY === true,
    ask: async (question) => {
      const lines = createInterface({ input: stdin, output: stderr });
      try {
        return await lines.question(question);
      } catch (error) {
        if (!(error instanceof Error && error.name === "AbortError")) throw error;
        // The cursor is behind the question.
        stderr.write("\n");
        throw new CliError("No answer. Nothing was changed.", EXIT_NOT_CONFIRMED);
      } finally {
        lines.close();
      }
    },
  };
}
