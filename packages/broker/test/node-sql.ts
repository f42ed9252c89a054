import { DatabaseSync, type SQLInputValue } from "node:sqlite";

/** A Durable Object's SQL on a database of this process, in memory: as much of it as the directory's tables need. */
export function nodeSql(): SqlStorage {
  const database = new DatabaseSync(":memory:");
  const exec = (sql: string, ...bindings: SQLInputValue[]) => {
    const rows = database.prepare(sql).all(...bindings);
    return { toArray: () => rows, [Symbol.iterator]: () => rows[Symbol.iterator]() };
  };
  return { exec } as unknown as SqlStorage;
}
