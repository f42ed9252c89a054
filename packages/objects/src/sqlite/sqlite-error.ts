const SQLITE_FULL = 13;

/** SQLite's names of the failures that code reacts to, by primary result code. */
const NAMES: Readonly<Record<number, string>> = {
  1: "SQLITE_ERROR",
  5: "SQLITE_BUSY",
  8: "SQLITE_READONLY",
  10: "SQLITE_IOERR",
  11: "SQLITE_CORRUPT",
  [SQLITE_FULL]: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
  18: "SQLITE_TOOBIG",
  19: "SQLITE_CONSTRAINT",
  26: "SQLITE_NOTADB",
};

/** Names by extended result code, for those that workerd's messages have, too. */
const EXTENDED_NAMES: Readonly<Record<number, string>> = {
  275: "SQLITE_CONSTRAINT_CHECK",
  787: "SQLITE_CONSTRAINT_FOREIGNKEY",
  1299: "SQLITE_CONSTRAINT_NOTNULL",
  1555: "SQLITE_CONSTRAINT_PRIMARYKEY",
  1811: "SQLITE_CONSTRAINT_TRIGGER",
  2067: "SQLITE_CONSTRAINT_UNIQUE",
  2579: "SQLITE_CONSTRAINT_ROWID",
};

/** Extended code for a `-shm` file that cannot grow on a full disk. SQLite reports it as an I/O error. */
const IOERR_SHMSIZE = 4_874;

/** Error of SQLite with a message as in workerd's objects: SQLite's message, followed by the name of the failure. */
export class SqliteError extends Error {}

/** Converts an error of `node:sqlite` to a `SqliteError`; returns any other error as it is. */
export function sqliteErrorOf(error: unknown): unknown {
  if (!(error instanceof Error) || !("errcode" in error)) return error;
  const code = Number(error.errcode);
  const primary = code === IOERR_SHMSIZE ? SQLITE_FULL : code & 0xff;
  const name = NAMES[primary] ?? `SQLITE_${primary}`;
  const extended = EXTENDED_NAMES[code];
  const words = `${error.message}: ${name}${extended === undefined ? "" : ` (extended: ${extended})`}`;
  return new SqliteError(words, { cause: error });
}
