import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { Database } from "../sqlite/database.ts";
import { Sql } from "../sqlite/sql.ts";

const OBJECT_FILE = /^([0-9a-f]{64})\.sqlite$/;

/** File of the object with an id, in the folder of its class. */
export function objectFile(folder: string, id: string): string {
  return join(folder, `${id}.sqlite`);
}

/** Ids of all objects of a class that have a file in its folder. */
export function objectIdsIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => OBJECT_FILE.exec(name)?.[1] ?? []);
}

/**
 * Gives room back to the disk that the files of all objects do not need, while nobody runs them. One that cannot be
 * read, or copied, stays as it is.
 *
 * @param folder of all objects, in which each class has its own.
 * @param warn told of each of those.
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

/** An object's database, while nobody runs the object. */
export interface ObjectDatabase {
  readonly sql: Sql;
  /** All of what `write` writes, synced, or nothing. */
  transaction(write: () => void): void;
}

/**
 * Opens the database of an object that nobody runs, for `work`. It is made if it is not there.
 *
 * @throws SqliteError where it is no database or cannot be read; what `work` throws.
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
