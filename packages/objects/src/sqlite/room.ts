/** The disk that the objects lie on, as somebody else watches over it. */
export interface Disk {
  /** Whether nothing may be taken in. What is there can be read and deleted. */
  readonly isFull: boolean;
  /** A write has found no room. Whether there is some now. */
  foundFull(): boolean;
}

/** A database that can do with less room. */
interface Sparing {
  setSparing(isSparing: boolean): void;
}

/** Nobody watches: who finds no room fails. */
const UNWATCHED: Disk = { isFull: false, foundFull: () => false };

/** Registry of the open databases of a process, which has them spare room while their disk is full. */
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

  /** While the disk is full all databases give back what they do not need, at each call. */
  set(isFull: boolean): void {
    for (const database of this.#open) database.setSparing(isFull);
  }
}
