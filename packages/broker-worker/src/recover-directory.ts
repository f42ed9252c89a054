import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  DIRECTORY_NAME,
  isLost,
  type Known,
  readCopy,
  readKnown,
  type Sql,
  takeBack,
} from "@sluice/broker/recovery";
import {
  idOfName,
  type ObjectDatabase,
  objectFile,
  objectIdsIn,
  repairObjectFile,
  withObjectFile,
} from "@sluice/objects";
import type { QueueRecord } from "@sluice/protocol";
import { uniqueKeysOf } from "./unique-keys.ts";

interface RecoverDirectoryInput {
  /** Folder of all Durable Objects of a data folder, which no other process may use meanwhile. */
  readonly folder: string;
  /** Name of the broker's Worker. */
  readonly worker: string;
  /** Takes a line about what was found. */
  warn(line: string): void;
}

/**
 * Makes the directory of a data folder usable before a broker runs on it, in any state of its file. A damaged file is
 * replaced by a new one with its readable rows, and queues that the directory has lost are restored from their own
 * files. Nothing else knows queues that were created over an API.
 *
 * Without damage it reads the directory's file, and the files of objects that are not its queues: 0.1 ms each.
 *
 * @throws SqliteError where the directory's file cannot be read or written for another reason than damage.
 */
export function recoverDirectory({ folder, worker, warn }: RecoverDirectoryInput): void {
  const uniqueKeys = uniqueKeysOf(worker);
  const queues = join(folder, uniqueKeys.queues);
  const file = objectFile(join(folder, uniqueKeys.directory), idOfName(uniqueKeys.directory, DIRECTORY_NAME));
  const repaired = repairObjectFile(file);
  if (repaired !== null) {
    warn(
      `Directory: its file was damaged (${repaired.finding}). A new one has what could be read of it; ` +
        `what there was is kept as ${repaired.aside}`,
    );
  }
  const ids = objectIdsIn(queues);
  // Without files of queues and without damage, nothing can have been lost.
  if (ids.length === 0 && repaired === null) return;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  withObjectFile(file, (directory) => {
    const known = readKnown(sqlOf(directory));
    const alive = new Set(
      [...known.rows.values()].flatMap((row) =>
        row.kind === "queue" ? idOfName(uniqueKeys.queues, row.record.name) : [],
      ),
    );
    const others = ids.filter((id) => !alive.has(id)).map((id) => objectFile(queues, id));
    const lost = others.flatMap((other) => lostQueueOf(other, known, warn));
    if (!known.hasStarted) warn(ALL_LOST);
    if (lost.length === 0) return;
    directory.transaction(() => takeBack(sqlOf(directory), known, lost));
    for (const { name } of lost) {
      warn(
        `Directory: it did not know queue "${name}" any more, and takes it back as the queue's own file ` +
          "says. Whether that is complete may not be known",
      );
    }
  });
}

const ALL_LOST =
  "Directory: nothing is left of what it had stored. Topics, event subscriptions and queues that never held a " +
  "message were known to it alone, if there were any";

function lostQueueOf(file: string, known: Known, warn: (line: string) => void): QueueRecord[] {
  try {
    const copy = withObjectFile(file, (database) => readCopy(sqlOf(database)));
    return copy !== null && isLost(known, copy) ? [copy] : [];
  } catch (error) {
    warn(`Directory: the file ${file} belongs to no known queue, and cannot be read: ${error}`);
    return [];
  }
}

/** Returns the part of the platform's database that the stores use. */
function sqlOf({ sql }: ObjectDatabase): Sql {
  return sql as unknown as Sql;
}
