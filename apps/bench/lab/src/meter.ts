import type { MeterReading } from "./bill.ts";

/** Counts the usage of one object. */
export class Meter {
  #requests = 0;
  #alarms = 0;
  #alarmsSet = 0;
  #syncs = 0;
  #activeMs = 0;
  #running = 0;
  #activeSinceMs = 0;

  read(): MeterReading {
    const sinceMs = this.#running > 0 ? Date.now() - this.#activeSinceMs : 0;
    return {
      requests: this.#requests,
      alarms: this.#alarms,
      alarmsSet: this.#alarmsSet,
      syncs: this.#syncs,
      activeMs: this.#activeMs + sinceMs,
    };
  }

  /** Counts a call from outside. */
  request<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#requests += 1;
    return this.active(work);
  }

  alarm(work: () => Promise<void>): Promise<void> {
    this.#alarms += 1;
    return this.request(work);
  }

  alarmSet(): void {
    this.#alarmsSet += 1;
  }

  synced(): void {
    this.#syncs += 1;
  }

  /** Runs work that keeps the object from hibernating. */
  async active<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running === 0) this.#activeSinceMs = Date.now();
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#activeMs += Date.now() - this.#activeSinceMs;
    }
  }
}
