import { existsSync } from "node:fs";
import { cp, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Object that is damaged: that of a queue, or the directory, which lists the queues. */
export type Target = { readonly kind: "queue"; readonly name: string } | { readonly kind: "directory" };

/** Files of an object's database. SQLite writes to the log first, `FILE-wal`. */
export interface Database {
  readonly file: string;
  readonly wal: string;
}

/** Copies a state to a new folder of its own, so that it can be damaged again and again. */
export async function copyState(from: string): Promise<string> {
  const to = await mkdtemp(path.join(tmpdir(), "sluice-damage-"));
  await cp(from, to, { recursive: true });
  // The shared memory of the processes that had the log open: SQLite makes it anew.
  for (const file of await readdir(to, { recursive: true })) {
    if (file.endsWith("-shm")) await rm(path.join(to, file));
  }
  return to;
}

/**
 * Finds the database of each object in a state: paths by `directory` or `queue NAME`. Reads a copy, since opening a
 * database with a log changes it.
 */
export async function databasesOf(state: string): Promise<Map<string, string>> {
  const copy = await copyState(state);
  try {
    const found = new Map<string, string>();
    for (const file of await objectFiles(copy)) {
      const name = file.includes("Directory/") ? "directory" : `queue ${nameIn(path.join(copy, file))}`;
      found.set(name, file);
    }
    return found;
  } finally {
    await rm(copy, { recursive: true });
  }
}

/** Finds the database of `target` in a copy of the state whose `databases` are given. */
export function databaseOf(state: string, databases: ReadonlyMap<string, string>, target: Target): Database {
  const key = target.kind === "directory" ? "directory" : `queue ${target.name}`;
  const found = databases.get(key);
  if (found === undefined) throw new Error(`the state has no database of ${key}`);
  const file = path.join(state, found);
  return { file, wal: `${file}-wal` };
}

/** Moves everything from the log to the file, as SQLite does when the log is long or the object ends in peace. */
export function moveLogIntoFile({ file, wal }: Database): void {
  if (!existsSync(wal)) return;
  const database = new DatabaseSync(file);
  try {
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    database.close();
  }
}

async function objectFiles(state: string): Promise<string[]> {
  const files = await readdir(state, { recursive: true });
  return files.filter((file) => /(Directory|QueueBroker)\/[0-9a-f]{64}\.sqlite$/.test(file)).sort();
}

function nameIn(file: string): string {
  const database = new DatabaseSync(file);
  try {
    return String(database.prepare("SELECT value FROM meta WHERE key = 'name'").get()?.value);
  } finally {
    database.close();
  }
}
