import { randomFillSync } from "node:crypto";
import { closeSync, openSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeRefusal } from "@sluice/project/folders";

/** File of a data folder that holds room. */
export const RESERVE_FILE = "sluice-reserve";
/**
 * Its size: room to open the databases, for their logs of pages, and to copy the rest of one that is drained. On
 * workerd a log of 4 MB is copied into its database meanwhile, which grows by that: with 4 MB in all, a queue that was
 * filled last could not be deleted.
 */
export const RESERVE_BYTES = 8_000_000;
/** It is written in pieces of this size, since memory that has been used once stays with the process. */
const BLOCK_BYTES = 1_000_000;
/** A disk with less than that free is full: who has acknowledged, deleted or purged before that has not met its end. */
export const FULL_BYTES = 1_000_000;
/** Free room at which the reserve is taken again. With it gone the disk is still far from full. */
export const ROOM_BYTES = RESERVE_BYTES + 2 * FULL_BYTES;
/** How often the disk is looked at, in ms. It takes some µs. */
export const LOOK_EVERY_MS = 500;

/** Told at each look while the disk is full, before it is seen whether there is room again, and once when there is. */
export type RoomListener = (isFull: boolean) => void;

/**
 * Room on the disk of a data folder for whoever makes room: a file of a few megabytes that is deleted when the disk is
 * full. Until it can be made again nothing is taken in, which would use it up; messages are received, acknowledged,
 * deleted and purged.
 *
 *  - kept: the file is there. Left at a look that finds the disk full, and when somebody meets its end (`foundFull`).
 *  - in use: there is no file, and `isFull`. Left at a look that finds room for it, and makes it.
 *
 * A process that is killed leaves either on the disk, and the next one finds it.
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
   * @param folder the data folder, which is there.
   * @param warn told once of each change, in words for people.
   * @param freeBytes how much is free on the disk of a folder.
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

  /** Whether nothing may be taken in. */
  get isFull(): boolean {
    return !this.#isKept;
  }

  /** From now on `listener` is told, at once if the disk is full. */
  watch(listener: RoomListener): void {
    this.#listener = listener;
    if (this.isFull) listener(true);
  }

  /** Deletes the reserve when the disk has been found full; answers whether that has made room. */
  foundFull(): boolean {
    if (!this.#isKept) return false;
    this.#isKept = false;
    rmSync(this.#file, { force: true });
    this.#tellFull();
    return true;
  }

  /** Sees how full the disk is. Done by itself every `LOOK_EVERY_MS`. */
  look(): void {
    if (this.#isKept) {
      if (this.#freeBytes(this.#folder) < FULL_BYTES) this.foundFull();
      return;
    }
    this.#listener(true);
    if (this.#freeBytes(this.#folder) < ROOM_BYTES || !this.#make()) return;
    this.#isKept = true;
    this.#warn(`There is room again on the disk of ${this.#folder}: messages are taken in.`);
    this.#listener(false);
  }

  /** Looks no more. What there is stays for the next process. */
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
        // Random: a file system that compresses would keep no room for anything else.
        for (let at = 0; at < RESERVE_BYTES; at += BLOCK_BYTES) writeFileSync(file, randomFillSync(block));
      } finally {
        closeSync(file);
      }
      return true;
    } catch (error) {
      rmSync(this.#file, { force: true });
      // A quota is smaller than the disk, for instance.
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
    // The folder was deleted. Whoever writes there says so.
    return Number.POSITIVE_INFINITY;
  }
}
