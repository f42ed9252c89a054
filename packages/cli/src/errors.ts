/** Something the person at the keyboard can put right: printed as one message, without a stack. */
export class CliError extends Error {
  override readonly name = "CliError";
}
