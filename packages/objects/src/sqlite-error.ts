/** SQLite's names of the failures that somebody reacts to, by primary result code. */
const NAMES: Readonly<Record<number, string>> = {
  1: "SQLITE_ERROR",
  5: "SQLITE_BUSY",
  8: "SQLITE_READONLY",
  10: "SQLITE_IOERR",
  11: "SQLITE_CORRUPT",
  13: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
  19: "SQLITE_CONSTRAINT",
  26: "SQLITE_NOTADB",
};

/** A failure of SQLite's in the words of workerd's objects: its message, and behind it the name of the failure. */
export class SqliteError extends Error {
  override readonly name = "SqliteError";
}

/** What `node:sqlite` threw, in those words; anything else as it is. */
export function sqliteErrorOf(error: unknown): unknown {
  if (!(error instanceof Error) || !("errcode" in error)) return error;
  const code = Number(error.errcode) & 0xff;
  return new SqliteError(`${error.message}: ${NAMES[code] ?? `SQLITE_${code}`}`, { cause: error });
}
