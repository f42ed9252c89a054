/** Exit codes of `sluice`. `docs/cli.md` promises them to scripts. */
export const EXIT_FAILED = 1;
/** A command line that makes no sense. */
export const EXIT_USAGE = 2;
/** No broker runs, or none answers at the address. */
export const EXIT_NO_BROKER = 3;
/** The queue or the message is not there. */
export const EXIT_NOT_FOUND = 4;
/** Exit code of a command that needs a confirmation and has none, above all where it cannot be undone. */
export const EXIT_NOT_CONFIRMED = 5;

/** Something the person at the keyboard can put right: printed as one message, without a stack. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT_FAILED) {
    super(message);
    this.exitCode = exitCode;
  }
}
