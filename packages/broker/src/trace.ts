/** What the log says of an exception that ought not to be: where it was thrown, if it knows. */
export function traceOf(error: unknown): string {
  return error instanceof Error && error.stack !== undefined ? error.stack : String(error);
}
