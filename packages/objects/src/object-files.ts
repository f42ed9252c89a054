import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Database } from "./database.ts";
import { Sql } from "./sql.ts";

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
