import type { Disk } from "@sluice/broker";

/** Time in ms for which a report of a full disk counts. It is repeated every half second. */
export const REPORT_VALID_MS = 5_000;

/** Disk of a broker on workerd, which cannot read it: the process that started workerd reports whether it is full. */
export class ReportedDisk implements Disk {
  readonly #now: () => number;
  #fullUntilMs = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  get isFull(): boolean {
    return this.#fullUntilMs > 0 && this.#now() < this.#fullUntilMs;
  }

  report(isFull: boolean): void {
    this.#fullUntilMs = isFull ? this.#now() + REPORT_VALID_MS : 0;
  }
}
