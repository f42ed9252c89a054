/** Watcher of the disk that the objects are stored on. */
export interface Disk {
  /** Whether the disk is full, so that nothing may be taken in. Stored data can be read and deleted. */
  readonly isFull: boolean;
  /** To be called when a write has failed for lack of space. Returns whether that has freed some. */
  foundFull(): boolean;
}

/** A database that can use less space. */
interface Sparing {
  setSparing(isSparing: boolean): void;
}

/** Disk without a watcher: a write for which there is no space fails. */
const UNWATCHED: Disk = { isFull: false, foundFull: () => false };

/** Registry of the open databases of a process. It makes them spare space while their disk is full. */
export class Room {
  readonly #disk: Disk;
  readonly #open = new Set<Sparing>();

  constructor(disk: Disk = UNWATCHED) {
    this.#disk = disk;
  }

  get isFull(): boolean {
    return this.#disk.isFull;
  }

  opened(database: Sparing): void {
    this.#open.add(database);
  }

  closed(database: Sparing): void {
    this.#open.delete(database);
  }

  foundFull(): boolean {
    return this.#disk.foundFull();
  }

  /** Sets whether databases spare space. While the disk is full, each call makes them give back unneeded space. */
  set(isFull: boolean): void {
    for (const database of this.#open) database.setSparing(isFull);
  }
}
