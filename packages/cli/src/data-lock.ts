import { execFileSync } from "node:child_process";
import { accessSync, constants, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, sep } from "node:path";
import { CliError } from "./errors.ts";
import { makeFolder, refusalOf } from "./folders.ts";

/** File of a data folder that says whose it is. */
export const LOCK_FILE = "sluice.lock";

/** Folder in a data folder that the Durable Objects lie in, as Miniflare has them. */
export const OBJECTS_FOLDER = "v3/do";

/** Who holds a data folder. */
interface Holder {
  readonly pid: number;
  /** `sluice serve`, `sluice dev`. */
  readonly command: string;
  /** When the process was started, as the system tells it: a number can be somebody else's by now. */
  readonly started: string | null;
}

/**
 * Takes a data folder for this process. Two brokers on the same files would each write over what the other has acknowledged.
 * What a process left behind that was killed is taken over.
 *
 * @param folder absolute; made if it is not there, with `OBJECTS_FOLDER` in it.
 * @param command what the others are told, `sluice serve`.
 * @returns gives the folder free; so does the end of this process.
 * @throws CliError while another process has it, or if nothing can be kept there.
 */
export function lockData(folder: string, command: string): () => void {
  const file = join(folder, LOCK_FILE);
  try {
    makeFolder(join(folder, OBJECTS_FOLDER));
    take(folder, file, command);
    // Not before: files of another process come and go.
    checkWritable(join(folder, OBJECTS_FOLDER), () => rmSync(file, { force: true }));
  } catch (error) {
    throw unusable(folder, error) ?? error;
  }
  let isHeld = true;
  const free = () => {
    if (isHeld) rmSync(file, { force: true });
    isHeld = false;
  };
  process.once("exit", free);
  return () => {
    process.off("exit", free);
    free();
  };
}

/**
 * Refuses files that belong to somebody else, who ran this here once: a database could be read and not written.
 *
 * @throws the file system's error.
 */
function checkWritable(objects: string, giveUp: () => void): void {
  try {
    for (const name of readdirSync(objects, { recursive: true, encoding: "utf8" })) {
      accessSync(join(objects, name), constants.W_OK);
    }
  } catch (error) {
    giveUp();
    throw error;
  }
}

function take(folder: string, file: string, command: string): void {
  const { pid } = process;
  const text = JSON.stringify({ pid, command, started: startOf(pid) } satisfies Holder);
  // The second time round a stale file has been taken away.
  for (let attempt = 1; !create(file, text); attempt++) {
    const holder = read(file);
    if (attempt > 2 || (holder !== null && isAlive(holder))) throw inUse(folder, file, holder);
    rmSync(file, { force: true });
  }
}

function create(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: "wx" });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    // On a full disk there is a file then, which says nothing.
    rmSync(file, { force: true });
    throw error;
  }
}

/** `null` for a file that is gone, or that nobody has finished writing. */
function read(file: string): Holder | null {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Holder;
  } catch {
    return null;
  }
}

function isAlive({ pid, started }: Holder): boolean {
  if (!isRunning(pid)) return false;
  const now = startOf(pid);
  return started === null || now === null || started === now;
}

/** Whether there is a process of that number. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It is there, and somebody else's.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** When a process was started; `null` where the system does not tell. */
function startOf(pid: number): string | null {
  try {
    // The name in parentheses may contain anything; the start is the 22nd field, the 20th behind it.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return fields[19] === undefined ? null : `${boot} ${fields[19]}`;
  } catch {
    return startByPs(pid);
  }
}

/** On systems without `/proc`. */
function startByPs(pid: number): string | null {
  try {
    const output = execFileSync("ps", ["-o", "lstart=", "-p", `${pid}`], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    return output.toString().trim() || null;
  } catch {
    return null;
  }
}

function inUse(folder: string, file: string, holder: Holder | null): CliError {
  const who = holder === null ? "another process" : `${holder.command} (process ${holder.pid})`;
  return new CliError(
    `The data in ${folder} are in use by ${who}. End that first, or choose another folder with --persist-to. If there is ` +
      `no such process, delete ${file}.`,
  );
}

/** `null` for an error that is not the folder's. */
function unusable(folder: string, error: unknown): CliError | null {
  const reason = refusalOf(error);
  if (reason === null) return null;
  const path = error instanceof Error && "path" in error ? String(error.path) : folder;
  const where = path.startsWith(join(folder, OBJECTS_FOLDER, sep)) ? `${path}: ` : "";
  return new CliError(
    `The data cannot be kept in ${folder}: ${where}${reason}. Choose another folder with --persist-to.`,
  );
}
