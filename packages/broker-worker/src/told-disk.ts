import type { Disk } from "@sluice/broker";

/** How long it holds that the disk is full, in ms. Whoever watches over it says so every half second. */
export const TOLD_MS = 5_000;

/**
 * The disk of a broker on workerd, where nobody can look at it: the process that has started workerd says whether it is
 * full.
 */
export class ToldDisk implements Disk {
  readonly #now: () => number;
  #fullUntilMs = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  get isFull(): boolean {
    return this.#fullUntilMs > 0 && this.#now() < this.#fullUntilMs;
  }

  told(isFull: boolean): void {
    this.#fullUntilMs = isFull ? this.#now() + TOLD_MS : 0;
  }
}
