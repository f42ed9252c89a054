import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { Database } from "../sqlite/database.ts";
import { Sql } from "../sqlite/sql.ts";

const OBJECT_FILE = /^([0-9a-f]{64})\.sqlite$/;

/** Returns the file of the object with an id, in the folder of its class. */
export function objectFile(folder: string, id: string): string {
  return join(folder, `${id}.sqlite`);
}

/** Lists the ids of all objects that have a file in the folder of a class. */
export function objectIdsIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => OBJECT_FILE.exec(name)?.[1] ?? []);
}

/**
 * Shrinks the files of all objects by space that they do not need. No object may be running. A file that cannot be read
 * or copied stays as it is.
 *
 * @param folder folder of all objects, in which each class has its own.
 * @param warn called for each file that stays as it is.
 */
export function shrinkObjectFiles(folder: string, warn: (line: string) => void): void {
  const classes = readdirSync(folder).filter((name) => statSync(join(folder, name)).isDirectory());
  for (const file of classes.flatMap((name) =>
    objectIdsIn(join(folder, name)).map((id) => objectFile(join(folder, name), id)),
  )) {
    try {
      const database = new Database(file);
      try {
        database.shrink();
      } finally {
        database.close();
      }
    } catch (error) {
      warn(`${file}: room in it could not be given back to the disk: ${error}`);
    }
  }
}

/** An object's database, while the object does not run. */
export interface ObjectDatabase {
  readonly sql: Sql;
  /** Runs `write` in a transaction, and syncs it. */
  transaction(write: () => void): void;
}

/**
 * Opens the database of an object that does not run, and calls `work` with it. Creates the file if it does not exist.
 *
 * @throws SqliteError where the file is no database or cannot be read; the error of `work`.
 */
export function withObjectFile<Result>(file: string, work: (database: ObjectDatabase) => Result): Result {
  const database = new Database(file);
  try {
    return work({
      sql: new Sql(database, (sql, values) => database.write(sql, values)),
      transaction: (write) => {
        database.run("BEGIN IMMEDIATE");
        try {
          write();
          database.run("COMMIT");
        } catch (error) {
          if (database.isInTransaction) database.run("ROLLBACK");
          throw error;
        }
      },
    });
  } finally {
    database.close();
  }
}
