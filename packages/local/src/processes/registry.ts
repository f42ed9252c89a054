import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { isAbsolute, join } from "node:path";
import { writeIfChanged } from "@sluice/project/files/write-plan";
import { homeFolder } from "@sluice/project/folders";
import { isRunning } from "@sluice/project/processes";
import { chosenRegistry } from "@sluice/project/wrangler/registry";

/** Modes of a registry's folder and files, for their owner alone: a user's processes and their tokens are private. */
const MODES = { folderMode: 0o700, fileMode: 0o600 };

/** Fields of every entry. */
export interface ProcessEntry {
  readonly pid: number;
  /** Tells the entries of one process apart. Default: the process has a single entry. */
  readonly part?: string | undefined;
  readonly startedAtMs: number;
}

/**
 * Checks of an entry's fields; an optional field's check accepts `undefined`. Entries are a contract between versions
 * of the command that run side by side: a new field is optional, and no field changes its meaning.
 */
export type Shape<Entry> = { readonly [Field in keyof Entry]-?: Check };
type Check = (value: unknown) => boolean;

export const isText: Check = (value) => typeof value === "string";
export const isNumber: Check = (value) => typeof value === "number";
export const isPaths: Check = (value) =>
  Array.isArray(value) && value.every((path) => isText(path) && isAbsolute(path));
export const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
export const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

const PROCESS: Shape<ProcessEntry> = { pid: isNumber, part: optional(isText), startedAtMs: isNumber };

/** A folder in which processes of one user find each other: each writes a file, `PID.json` or `PID-PART.json`. */
export class ProcessRegistry<Entry extends ProcessEntry> {
  readonly folder: string;
  readonly #shape: Shape<Omit<Entry, keyof ProcessEntry>>;

  /** @param shape checks of the fields that its kind of entry adds. */
  constructor(folder: string, shape: Shape<Omit<Entry, keyof ProcessEntry>>) {
    this.folder = folder;
    this.#shape = shape;
  }

  /**
   * Announces a process, or a change of its entry, to the other processes. An unchanged entry is not written again:
   * each process answers a change by announcing itself, and two would go on for ever.
   *
   * @throws CliError where the folder cannot be written to.
   */
  announce(entry: Entry): void {
    writeEntry(join(this.folder, entryName(entry)), entry);
  }

  /** Removes an entry. */
  leave(entry: Pick<Entry, "pid" | "part">): void {
    rmSync(join(this.folder, entryName(entry)), { force: true });
  }

  /**
   * Announces this process until it ends.
   *
   * @returns a function that removes the entry.
   * @throws CliError as `announce`.
   */
  enter(entry: Entry): () => void {
    this.announce(entry);
    const leave = () => this.leave(entry);
    process.once("exit", leave);
    return () => {
      process.off("exit", leave);
      leave();
    };
  }

  /** Lists the running processes, the oldest first. Removes the entries of killed ones. */
  running(): Entry[] {
    const entries: Entry[] = [];
    // None where the folder was deleted: `announce` makes it anew.
    for (const name of existsSync(this.folder) ? readdirSync(this.folder) : []) {
      const file = join(this.folder, name);
      const entry = readEntry<Entry>(file, { ...PROCESS, ...this.#shape } as Shape<Entry>, readOwn);
      if (entry === null) continue;
      if (isRunning(entry.pid)) entries.push(entry);
      else rmSync(file, { force: true });
    }
    return entries.sort((a, b) => a.startedAtMs - b.startedAtMs || a.pid - b.pid);
  }

  /** Lists the running processes but this one. */
  others(): Entry[] {
    return this.running().filter(({ pid }) => pid !== process.pid);
  }
}

/**
 * Returns the folder of one user's registry: `~/.cache/sluice/NAME`. Where variables choose another folder for
 * Wrangler's registry, it is that folder's path with a suffix: processes whose Workers cannot reach each other must not
 * find each other either.
 */
export function processesFolder(env: NodeJS.ProcessEnv, name: string, suffix: string): string {
  const workers = chosenRegistry(env);
  return workers === null ? join(homeFolder(), ".cache/sluice", name) : `${workers}${suffix}`;
}

/** Returns the name of an entry's file. */
export function entryName({ pid, part }: Pick<ProcessEntry, "pid" | "part">): string {
  return part === undefined ? `${pid}.json` : `${pid}-${part}.json`;
}

/** Writes an entry, unless the file has it already. */
export function writeEntry(file: string, entry: object): void {
  writeIfChanged(file, JSON.stringify(entry), MODES);
}

/**
 * Reads an entry; `null` for a file that is being written or removed at this moment, and for an entry of another
 * version that lacks the shape.
 *
 * @param read reads the file. Default: whichever user owns it.
 */
export function readEntry<Entry>(
  file: string,
  shape: Shape<Entry>,
  read = (path: string) => readFileSync(path, "utf8"),
): Entry | null {
  try {
    const entry: unknown = JSON.parse(read(file));
    return hasShape(entry, shape) ? entry : null;
  } catch {
    return null;
  }
}

/** Reads a file if this user owns it: in a shared folder, entries of other users are not trusted. */
function readOwn(file: string): string {
  // Windows has neither flag.
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const open = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const status = fstatSync(open);
    if (!status.isFile() || (process.getuid !== undefined && status.uid !== process.getuid())) {
      throw new Error(`${file} is not this user's`);
    }
    return readFileSync(open, "utf8");
  } finally {
    closeSync(open);
  }
}

function hasShape<Entry>(value: unknown, shape: Shape<Entry>): value is Entry {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries<Check>(shape).every(([name, isValid]) => isValid(Reflect.get(value, name)));
}
