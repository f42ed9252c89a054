import { accessSync, constants, existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join, sep } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { uniqueKeysOf } from "@sluice/broker-worker/unique-keys";
import { databaseName } from "@sluice/objects/database-name";
import { syncFoldersAround } from "@sluice/objects/folders";
import { idOfName } from "@sluice/objects/object-id";
import { CliError, EXIT_FAILED } from "@sluice/project/errors";
import { makeFolder, nearestExisting, writeRefusal } from "@sluice/project/folders";
import { pidNamespace } from "@sluice/project/processes";
import { DIRECTORY_NAME } from "@sluice/protocol";
import { loadSqlite } from "../node/sqlite.ts";
import { isNumber, isText, orNull, readEntry, type Shape, writeEntry } from "../processes/registry.ts";

/**
 * Empty database of a data folder. Whoever has begun to write it has the folder. Sluice never deletes it: a process
 * that still has the deleted file open and one that makes another would both have a lock. Whoever else deletes it ends
 * the holder (`lockData`).
 *
 * POSIX drops a process's locks on a file when that process closes any descriptor of it. So nothing but SQLite, which
 * knows, may open this file in a process that may hold it. To look at it by its name opens nothing.
 */
export const LOCK_FILE = "sluice-lock.sqlite";
/**
 * Says who has the folder, for people. What it says means something only while somebody holds the lock. A contract
 * between versions of the command, as all entries of processes.
 */
export const HOLDER_FILE = "sluice-lock.json";

/** Folder in a data folder that Wrangler has Miniflare keep everything in. */
export const RESOURCES_FOLDER = "v3";
/** Folder in a data folder that the Durable Objects lie in, as Miniflare has them. */
export const OBJECTS_FOLDER = `${RESOURCES_FOLDER}/do`;

/**
 * Modes of a data folder and its files, for their owner alone: other users of the machine read what is kept through the
 * broker or not at all.
 */
export const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** How often a holder looks whether its lock is still the one that others meet, in ms. It takes some µs. */
export const LOOK_EVERY_MS = 500;
/**
 * How long data wait that are there without a lock, in ms: somebody may have deleted it under a holder, which ends at
 * its next look.
 */
const LET_END_MS = 4 * LOOK_EVERY_MS;

/** SQLite's code for a lock that another connection has. */
const SQLITE_BUSY = 5;

/** Process that holds a data folder. */
export interface Holder {
  /** Its number, which means something only in its own PID namespace and on its own host. */
  readonly pid: number;
  /** `sluice serve`, `sluice dev`. */
  readonly command: string;
  readonly host: string;
  /** As Linux names it; `null` elsewhere. */
  readonly pidNamespace: string | null;
}

const HOLDER: Shape<Holder> = { pid: isNumber, command: isText, host: isText, pidNamespace: orNull(isText) };

/** By which option a command is given another data folder. */
function optionOf(command: string): string {
  return { "vite dev": "persistState", getPlatformProxy: "persist" }[command] ?? "--persist-to";
}

/** A data folder that another process holds. */
export class DataInUseError extends CliError {
  /** `null` where it has not said who it is: it has just begun, or its disk is full. */
  readonly holder: Holder | null;

  /** @param command that wanted it. */
  constructor(folder: string, holder: Holder | null, command: string) {
    super(
      `The data in ${folder} are in use by ${holder === null ? "another process" : described(holder)}. ` +
        `End that first, or choose another folder with ${optionOf(command)}.`,
    );
    this.holder = holder;
  }
}

/** The data or the lock of a folder that was taken away from this process, by which another broker may have begun there. */
export class DataLostError extends CliError {
  /** @param gone path of data that are not there any more; `null` for the lock alone. */
  constructor(folder: string, gone: string | null) {
    super(
      gone === null
        ? `${join(folder, LOCK_FILE)} was deleted or replaced while this process had the data: another broker may have ` +
            "begun on them, so this one ends at once. What it has acknowledged is on the disk. Start it again, and " +
            "leave that file alone."
        : `The data in ${folder} were deleted or moved away while this process had them, so it ends at once: there is ` +
            `no ${gone} any more. What it has acknowledged went with them.`,
    );
  }
}

/**
 * Paths of data that may not go while this process has their folder, by that folder, and whether each has been there.
 * The system goes on writing to files that were deleted: sends would be acknowledged, and nothing of them be there after
 * the next start.
 */
const kept = new Map<string, Map<string, boolean>>();

/**
 * Ends the holder of a data folder also when the folders of a broker's objects or the file of its directory go. A queue's
 * file is left to the next start, which reports it: there may be 100,000.
 *
 * @param broker name of its Worker.
 */
export function watchKept(folder: string, broker: string): void {
  const { directory, queues } = uniqueKeysOf(broker);
  const file = `${directory}/${idOfName(directory, DIRECTORY_NAME)}.sqlite`;
  const paths = kept.get(folder);
  for (const name of [directory, queues, file]) {
    const path = join(folder, OBJECTS_FOLDER, name);
    if (!paths?.has(path)) paths?.set(path, isThere(path));
  }
}

/** Folders that this process has lost and not taken again. */
const lost = new Set<string>();

/** Whether a folder is another process's now, which this process had: it writes nothing there. */
export function isLost(folder: string): boolean {
  return lost.has(folder);
}

/**
 * Takes a data folder for this process. Two brokers on the same files would each write over what the other has
 * acknowledged.
 *
 * It holds a lock of the kernel, which ends with the process however that ends, is seen from other containers on the
 * machine, and which exactly one of those gets who ask at the same moment: SQLite's lock of a writer. No child process
 * inherits it.
 *
 * The lock is looked at from then on. To take back one that is gone would be a race with whoever makes it anew, so its
 * holder has to end. So it does when the data are gone (`watchKept`).
 *
 * @param folder absolute; made if it is not there, with `OBJECTS_FOLDER` in it.
 * @param command what the others are told, `sluice serve`.
 * @param onLost ends the broker at once; the lock was taken away. Default: ends this process, with the reason.
 * @returns gives the folder free; so does the end of this process.
 * @throws DataInUseError at once while somebody has it, this process included; CliError if nothing can be kept there.
 */
export function lockData(
  folder: string,
  command: string,
  onLost: (error: DataLostError) => void = endProcess,
): () => void {
  const holderFile = join(folder, HOLDER_FILE);
  const lockFile = join(folder, LOCK_FILE);
  let lock: DatabaseSync | null;
  let own: string | null;
  try {
    makeObjectsFolder(folder);
    const isNew = !existsSync(lockFile);
    lock = take(lockFile);
    own = fileId(lockFile);
    if (lock === null) throw new DataInUseError(folder, readEntry(holderFile, HOLDER), command);
    // Not before: files of another process come and go.
    checkWritable(join(folder, OBJECTS_FOLDER), lock);
    if (isNew && readdirSync(join(folder, OBJECTS_FOLDER)).length > 0) waitFor(LET_END_MS);
  } catch (error) {
    throw unusable(folder, error, command) ?? error;
  }
  writeHolder(holderFile, command);
  lost.delete(folder);
  kept.set(folder, new Map([[join(folder, OBJECTS_FOLDER), true]]));
  let isOurs = true;
  const watch = setInterval(() => {
    const gone = goneIn(folder);
    if (gone === null && !isReplaced(lockFile, own)) return;
    clearInterval(watch);
    isOurs = false;
    lost.add(folder);
    onLost(new DataLostError(folder, gone));
  }, LOOK_EVERY_MS);
  watch.unref();
  const free = () => {
    if (!lock?.isOpen) return;
    clearInterval(watch);
    // While it is still ours to delete.
    if (isOurs) removeHolder(holderFile);
    lock.close();
  };
  process.once("exit", free);
  return () => {
    process.off("exit", free);
    free();
  };
}

/** Makes the folder of a data folder's objects, which a power cut does not take away from then on. */
function makeObjectsFolder(folder: string): void {
  const objects = join(folder, OBJECTS_FOLDER);
  const around = nearestExisting(folder);
  makeFolder(objects, FOLDER_MODE);
  // Also of folders that are there: who made them may have been killed before.
  syncFoldersAround(objects, around === folder ? dirname(folder) : around);
}

function endProcess(error: DataLostError): void {
  console.error(error.message);
  // What runs for this process ends with it, as at every other end.
  process.exit(EXIT_FAILED);
}

/** Waits with this whole process: nothing of it may run before. */
function waitFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/**
 * Tells a file from each other one that comes under its name while somebody has it open; `null` where there is none.
 */
function fileId(file: string): string | null {
  // Numbers of Windows are longer than a double holds.
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.dev}:${stat.ino}`;
}

/**
 * Whether a name leads to another file than before, or to none. One that cannot be looked at cannot be taken either.
 */
function isReplaced(file: string, before: string | null): boolean {
  try {
    return fileId(file) !== before;
  } catch {
    return false;
  }
}

/**
 * Finds a path of the kept data that was there at an earlier look and is not now; `null` where there is none. It asks
 * for names alone: not every file system numbers a folder the same for ever.
 */
export function goneIn(folder: string): string | null {
  const paths = kept.get(folder) ?? new Map<string, boolean>();
  for (const [path, wasThere] of paths) {
    const isThereNow = isThere(path);
    if (wasThere && !isThereNow) return path;
    paths.set(path, isThereNow);
  }
  return null;
}

function isThere(path: string): boolean {
  try {
    return fileId(path) !== null;
  } catch {
    // As of a lock that cannot be looked at.
    return true;
  }
}

/** `null` while another connection has the lock. Needs no room on the disk if the file is there. */
function take(file: string): DatabaseSync | null {
  // SQLite's own errors do not say why a file cannot be opened.
  if (existsSync(file)) accessSync(file, constants.R_OK | constants.W_OK);
  else makeEmpty(file);
  const before = fileId(file);
  const database = new (loadSqlite().DatabaseSync)(databaseName(file), { timeout: 0 });
  try {
    // Nothing is ever written, so there is nothing to keep for a crash.
    database.exec("PRAGMA journal_mode = MEMORY");
    database.exec("BEGIN IMMEDIATE");
    if (fileId(file) === before) return database;
  } catch (error) {
    database.close();
    if (error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY) return null;
    throw error;
  }
  // Deleted in between: others meet the one that is there now.
  database.close();
  return take(file);
}

function makeEmpty(file: string): void {
  try {
    writeFileSync(file, "", { flag: "wx", mode: FILE_MODE });
  } catch (error) {
    // Another process has made it meanwhile.
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

/**
 * Refuses files that belong to somebody else, who ran this here once: a database could be read and not written.
 *
 * @throws the file system's error.
 */
function checkWritable(objects: string, lock: DatabaseSync): void {
  try {
    for (const name of readdirSync(objects, { recursive: true, encoding: "utf8" })) {
      accessSync(join(objects, name), constants.W_OK);
    }
  } catch (error) {
    lock.close();
    throw error;
  }
}

function writeHolder(file: string, command: string): void {
  const holder: Holder = { pid: process.pid, command, host: hostname(), pidNamespace: pidNamespace() };
  try {
    writeEntry(file, holder);
  } catch {
    // The disk is full, and the lock holds all the same. Rather nothing than what the last one said.
    removeHolder(file);
  }
}

function removeHolder(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // The folder is read-only by now. What the file says means nothing without the lock.
  }
}

function described({ pid, command, host, pidNamespace: namespace }: Holder): string {
  const isHere = host === hostname() && namespace === pidNamespace();
  return `${command} (process ${pid}${isHere ? "" : ` of another container or machine, ${host}`})`;
}

/** `null` for an error that is not the folder's. */
function unusable(folder: string, error: unknown, command: string): CliError | null {
  const reason = writeRefusal(error);
  if (reason === null) return null;
  const path = error instanceof Error && "path" in error ? String(error.path) : folder;
  const where = path.startsWith(join(folder, OBJECTS_FOLDER, sep)) ? `${path}: ` : "";
  return new CliError(
    `The data cannot be kept in ${folder}: ${where}${reason}. Choose another folder with ${optionOf(command)}.`,
  );
}
