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
 * Empty database of a data folder. The process with its write lock has the folder. Sluice never deletes this file:
 * otherwise a process with the deleted file open and one that creates a new file would both have a lock. If anything
 * else deletes it, the holder ends (`lockData`).
 *
 * POSIX drops a process's locks on a file when that process closes any descriptor of it. So in a process that may hold
 * the lock, only SQLite, which takes care of that, may open this file. `stat` opens nothing.
 */
export const LOCK_FILE = "sluice-lock.sqlite";
/**
 * File that names the holder of the folder, for people (`Holder`). Its content is valid only while the lock is held.
 * A contract between versions of the command, as all entries of processes (`processes/registry.ts`).
 */
export const HOLDER_FILE = "sluice-lock.json";

/** Folder in a data folder in which Wrangler's Miniflare stores everything. */
export const RESOURCES_FOLDER = "v3";
/** Folder in a data folder in which Miniflare stores Durable Objects. */
export const OBJECTS_FOLDER = `${RESOURCES_FOLDER}/do`;

/**
 * Modes of a data folder and its files, for their owner alone: other users of the machine read the data through the
 * broker or not at all.
 */
export const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** How often a holder checks whether `LOCK_FILE` is still the file that it has locked, in ms. A check takes some µs. */
export const LOOK_EVERY_MS = 500;
/**
 * How long to wait, in ms, where a folder has data and no lock file: the file may have been deleted under a holder,
 * which ends at its next check.
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

/** Returns the option by which a command is given another data folder. */
function optionOf(command: string): string {
  return { "vite dev": "persistState", getPlatformProxy: "persist" }[command] ?? "--persist-to";
}

/** A data folder that another process holds. */
export class DataInUseError extends CliError {
  /** `null` where the holder has not named itself: it has just begun, or its disk is full. */
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

/** The data or the lock file of a folder were deleted under this process, so that another broker may run there. */
export class DataLostError extends CliError {
  /** @param gone path of data that are missing; `null` if only the lock file was deleted or replaced. */
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
 * Paths that may not disappear while this process has their data folder, by that folder, with whether each has existed.
 * A process can write on to deleted files: sends would be acknowledged and be gone after the next start.
 */
const kept = new Map<string, Map<string, boolean>>();

/**
 * Ends the holder of a data folder also when the folders of a broker's objects or the file of its directory disappear.
 * Files of queues, of which there may be 100,000, are not watched: the next start reports missing ones.
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

/** Folders that this process has lost (`DataLostError`) and not taken again. */
const lost = new Set<string>();

/** Whether this process has lost a folder, which may be another process's now: nothing may be written there. */
export function isLost(folder: string): boolean {
  return lost.has(folder);
}

/**
 * Takes a data folder for this process. Two brokers on the same files would overwrite each other's acknowledged
 * messages.
 *
 * The lock is SQLite's write lock, a lock of the kernel. It ends with the process however that ends, is visible to
 * other containers on the machine, and goes to exactly one of several that try at once. No child process inherits it.
 *
 * From then on the lock file is checked every `LOOK_EVERY_MS`. If it was deleted or replaced, the holder must end:
 * taking the lock again would race with the process that created the new file. It must also end when data disappear
 * (`watchKept`).
 *
 * @param folder absolute; created if it does not exist, with `OBJECTS_FOLDER` in it.
 * @param command command of this process, as other processes name it in errors: `sluice serve`.
 * @param onLost ends the broker at once. Default: ends this process, with the reason.
 * @returns a function that releases the folder; so does the end of this process.
 * @throws DataInUseError at once while any process has the folder, this one included; CliError if nothing can be stored
 *   there.
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
    // After the lock is taken: the files of another process come and go.
    checkWritable(join(folder, OBJECTS_FOLDER), lock);
    if (isNew && readdirSync(join(folder, OBJECTS_FOLDER)).length > 0) blockFor(LET_END_MS);
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
    // Before the lock is released: the file is the next holder's then.
    if (isOurs) removeHolder(holderFile);
    lock.close();
  };
  process.once("exit", free);
  return () => {
    process.off("exit", free);
    free();
  };
}

/** Makes the folder of a data folder's objects, and syncs it so that it survives a power cut. */
function makeObjectsFolder(folder: string): void {
  const objects = join(folder, OBJECTS_FOLDER);
  const around = nearestExisting(folder);
  makeFolder(objects, FOLDER_MODE);
  // Existing folders, too: the process that made them may have been killed before it synced them.
  syncFoldersAround(objects, around === folder ? dirname(folder) : around);
}

function endProcess(error: DataLostError): void {
  console.error(error.message);
  // Child processes end with this one, as at every other end.
  process.exit(EXIT_FAILED);
}

/** Blocks this whole process: nothing in it may run before the time is over. */
function blockFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Identifies the file behind a path. A file that replaces an open one has another id. `null` where there is none. */
function fileId(file: string): string | null {
  // Windows' file ids exceed the integers of a double.
  const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.dev}:${stat.ino}`;
}

/** Whether a path leads to another file than before, or to none. `false` if it cannot be read: nobody can lock it. */
function isReplaced(file: string, before: string | null): boolean {
  try {
    return fileId(file) !== before;
  } catch {
    return false;
  }
}

/**
 * Finds a watched path (`watchKept`) that existed at an earlier check and does not now; `null` where there is none. It
 * compares names only: not every file system keeps the id of a folder.
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
    // As in `isReplaced`: a path that cannot be read is not gone.
    return true;
  }
}

/** Locks the file. Returns `null` while another connection has the lock. Needs no disk space if the file exists. */
function take(file: string): DatabaseSync | null {
  // SQLite's own errors do not say why a file cannot be opened.
  if (existsSync(file)) accessSync(file, constants.R_OK | constants.W_OK);
  else makeEmpty(file);
  const before = fileId(file);
  const database = new (loadSqlite().DatabaseSync)(databaseName(file), { timeout: 0 });
  try {
    // Nothing is ever written, so no journal has to survive a crash.
    database.exec("PRAGMA journal_mode = MEMORY");
    database.exec("BEGIN IMMEDIATE");
    if (fileId(file) === before) return database;
  } catch (error) {
    database.close();
    if (error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY) return null;
    throw error;
  }
  // The file was replaced before the lock was taken: other processes lock the new one.
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
 * Refuses a folder with files of another user, who once ran a broker here: a database could be read and not written.
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
    // The disk is full, and the lock holds all the same. No entry is better than that of the last holder.
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

/** Makes the error for a folder in which nothing can be stored; `null` for another cause. */
function unusable(folder: string, error: unknown, command: string): CliError | null {
  const reason = writeRefusal(error);
  if (reason === null) return null;
  const path = error instanceof Error && "path" in error ? String(error.path) : folder;
  const where = path.startsWith(join(folder, OBJECTS_FOLDER, sep)) ? `${path}: ` : "";
  return new CliError(
    `The data cannot be kept in ${folder}: ${where}${reason}. Choose another folder with ${optionOf(command)}.`,
  );
}
