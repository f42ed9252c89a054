import { randomFillSync } from "node:crypto";
import { closeSync, openSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeRefusal } from "@sluice/project/folders";

/** File of a data folder that reserves disk space. */
export const RESERVE_FILE = "sluice-reserve";
/**
 * Its size: room to open the databases, for their write-ahead logs, and to copy the rest of a drained one. On workerd a
 * log of 4 MB is copied into its database meanwhile, which grows by as much. With 4 MB in all, a queue that was filled
 * last could not be deleted.
 */
export const RESERVE_BYTES = 8_000_000;
/** The file is written in blocks of this size, since the process keeps memory that it has used once. */
const BLOCK_BYTES = 1_000_000;
/** A disk with fewer free bytes counts as full. Acknowledging, deleting and purging do not fail before that. */
export const FULL_BYTES = 1_000_000;
/** Free bytes at which the reserve is made again. With it made the disk is still far from full. */
export const ROOM_BYTES = RESERVE_BYTES + 2 * FULL_BYTES;
/** How often the free space is checked, in ms. A check takes some µs. */
export const LOOK_EVERY_MS = 500;

/** Called at the start of each check while the disk is full, and once when there is room again. */
export type RoomListener = (isFull: boolean) => void;

/**
 * Reserves disk space in a data folder for operations that free space: a file of some megabytes, deleted when the disk
 * is full. Until it can be made again no messages are taken in, which would use the space up. Messages can still be
 * received, acknowledged, deleted and purged.
 *
 *  - kept: the file exists. Left at a check that finds the disk full, and when a write has failed for it (`foundFull`).
 *  - in use: there is no file, and `isFull`. Left at a check that finds room for the file, and makes it.
 *
 * The next process finds the state that a killed process has left on the disk.
 */
export class Reserve {
  readonly #file: string;
  readonly #folder: string;
  readonly #freeBytes: (folder: string) => number;
  readonly #warn: (line: string) => void;
  #listener: RoomListener = () => {};
  readonly #timer: NodeJS.Timeout;
  #isKept: boolean;

  /**
   * @param folder the data folder, which exists.
   * @param warn called once for each change, with a line for people.
   * @param freeBytes returns the free bytes on the disk of a folder.
   */
  constructor(folder: string, warn: (line: string) => void, freeBytes = freeBytesOf) {
    this.#folder = folder;
    this.#freeBytes = freeBytes;
    this.#file = join(folder, RESERVE_FILE);
    this.#warn = warn;
    this.#isKept = sizeOf(this.#file) === RESERVE_BYTES;
    if (!this.#isKept && freeBytes(folder) >= ROOM_BYTES) this.#isKept = this.#make();
    if (!this.#isKept) this.#tellFull();
    else if (freeBytes(folder) < FULL_BYTES) this.foundFull();
    this.#timer = setInterval(() => this.look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  /** Whether the disk is full, so that no messages may be taken in. */
  get isFull(): boolean {
    return !this.#isKept;
  }

  /** Sets the listener, and calls it at once if the disk is full. */
  watch(listener: RoomListener): void {
    this.#listener = listener;
    if (this.isFull) listener(true);
  }

  /** Deletes the reserve when the disk has been found full. Returns whether there was one to delete. */
  foundFull(): boolean {
    if (!this.#isKept) return false;
    this.#isKept = false;
    rmSync(this.#file, { force: true });
    this.#tellFull();
    return true;
  }

  /** Checks the free space. Called every `LOOK_EVERY_MS` by a timer. */
  look(): void {
    if (this.#isKept) {
      if (this.#freeBytes(this.#folder) < FULL_BYTES) this.foundFull();
      return;
    }
    this.#listener(true);
    if (this.#freeBytes(this.#folder) < ROOM_BYTES) return;
    try {
      if (!this.#make()) return;
    } catch {
      // As without a file descriptor left. The next check tries again.
      return;
    }
    this.#isKept = true;
    this.#warn(`There is room again on the disk of ${this.#folder}: messages are taken in.`);
    this.#listener(false);
  }

  /** Ends the checks. The file, if there is one, stays for the next process. */
  close(): void {
    clearInterval(this.#timer);
  }

  #tellFull(): void {
    this.#warn(
      `The disk of ${this.#folder} is full: no messages are taken in until ${ROOM_BYTES / 1_000_000} MB are free. ` +
        "They can be received, acknowledged, deleted and purged.",
    );
    this.#listener(true);
  }

  #make(): boolean {
    try {
      const file = openSync(this.#file, "w", 0o600);
      try {
        const block = new Uint8Array(BLOCK_BYTES);
        // Random bytes: a file system that compresses would reserve no space for others.
        for (let at = 0; at < RESERVE_BYTES; at += BLOCK_BYTES) writeFileSync(file, randomFillSync(block));
      } finally {
        closeSync(file);
      }
      return true;
    } catch (error) {
      rmSync(this.#file, { force: true });
      // Refused although the disk has room, as by a quota.
      if (writeRefusal(error) === null) throw error;
      return false;
    }
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function freeBytesOf(folder: string): number {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    // The folder was deleted, which the lock and each write report.
    return Number.POSITIVE_INFINITY;
  }
}
