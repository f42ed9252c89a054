/** Exit code for a failure. All exit codes are a contract: `docs/cli.md` promises them to scripts. */
export const EXIT_FAILED = 1;
/** Exit code for a command line that is not valid. */
export const EXIT_USAGE = 2;
/** Exit code where no broker runs, or none answers at the address. */
export const EXIT_NO_BROKER = 3;
/** Exit code for a queue or a message that does not exist. */
export const EXIT_NOT_FOUND = 4;
/** Exit code of a command that needs a confirmation and has none. */
export const EXIT_NOT_CONFIRMED = 5;

/** Error whose cause the user can mend. It is printed as its message, without a stack. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT_FAILED) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Makes an error of which Node.js and Vite, which print stacks, show the message alone. The stack and the line of our
 * code would hide the sentence that says what to change.
 */
export function withoutStack({ message }: Error): Error {
  return Object.assign(new Error(message), { stack: message });
}
