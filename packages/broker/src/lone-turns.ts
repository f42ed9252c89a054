/** After so many turns of one job each the next one is expected to have no company either. */
export const LONE_AFTER_TURNS = 3;
/** Lone turns in one ms: whoever awaits each answer makes no more, so the next turn sees who else is there. */
export const LONE_TURNS_PER_MS_MAX = 4;
/** A sync that takes longer, in ms, is not one of a disk nearby: there is time in it that others can share. */
export const NEARBY_SYNC_MS_MAX = 1;
/** How long after a lone turn its sync is asked for, in ms: one for all of that time. */
export const LATER_SYNC_MS = 10;

export interface LoneTurnsPorts {
  nowMs(): number;
  after(callback: () => void, ms: number): void;
  synced(): Promise<void>;
  /** A commit did not become durable. */
  failed(error: unknown): void;
}

/**
 * Tells which turns need not wait for the sync of their commit. What is answered leaves only when everything committed is
 * durable, the platform's output gate sees to that; a turn waits for the sync so that what comes meanwhile shares the next
 * commit. Where nothing comes, and the disk is near, the wait is of use to nobody: it is an entry more into the object, which
 * takes a sender who awaits each send about a sixth of the processor time.
 */
export class LoneTurns {
  readonly #ports: LoneTurnsPorts;
  #loneInARow = 0;
  #lastSyncMs = Number.POSITIVE_INFINITY;
  #ms = 0;
  #inThisMs = 0;
  #syncIsDue = false;

  constructor(ports: LoneTurnsPorts) {
    this.#ports = ports;
  }

  /** Whether a turn that has just committed needs no wait; if so it is taken for one that does not. */
  take(jobs: number): boolean {
    if (jobs > 1) this.#loneInARow = 0;
    if (jobs > 1 || this.#loneInARow < LONE_AFTER_TURNS || this.#lastSyncMs > NEARBY_SYNC_MS_MAX)
      return false;
    const nowMs = this.#ports.nowMs();
    this.#inThisMs = nowMs === this.#ms ? this.#inThisMs + 1 : 1;
    this.#ms = nowMs;
    if (this.#inThisMs > LONE_TURNS_PER_MS_MAX) return false;
    this.#syncLater();
    return true;
  }

  /** A turn has waited for its sync. `company` is what came meanwhile. */
  waited(sinceMs: number, company: number): void {
    this.#lastSyncMs = this.#ports.nowMs() - sinceMs;
    this.#loneInARow = company === 0 ? this.#loneInARow + 1 : 0;
  }

  /** Failures are noticed, and so is that all went well. */
  #syncLater(): void {
    if (this.#syncIsDue) return;
    this.#syncIsDue = true;
    const { after, synced, failed } = this.#ports;
    after(() => {
      this.#syncIsDue = false;
      synced().catch(failed);
    }, LATER_SYNC_MS);
  }
}
