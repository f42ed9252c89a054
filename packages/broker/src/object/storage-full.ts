import { QUEUE_ERROR_CODES, type RpcFailure, type Why } from "@sluice/protocol";
import type { CommitWatcher } from "../store/sqlite-store.ts";
import type { Disk } from "./broker-env.ts";

/**
 * Sends are refused for this long after a commit that found no room, in ms. Each such commit resets the queue's object,
 * and with it every delivery that runs; so the next try waits.
 */
export const STORAGE_FULL_MS = 1_000;

/** The dialect's answer to a send that there is no room for (spec cloudflare-queues 1.9). */
export const STORAGE_FULL: RpcFailure = {
  ok: false,
  code: QUEUE_ERROR_CODES.queueStorageLimitExceeded,
  cause: "Queue storage limit exceeded: its disk or its database is full.",
};

/** The same as an answer to why a queue does nothing. */
export const STORAGE_IS_FULL: Why = {
  reason: "storageFull",
  untilMs: null,
  by: null,
  text: "The queue takes nothing in: its disk or its database is full.",
};

/** Whether a failure means that there is no room left to write to. */
export function isStorageFull(error: unknown): boolean {
  return String(error).includes("SQLITE_FULL");
}

/**
 * Queues whose storage was full, by name. Outlives their objects, which the platform resets when it happens: it is kept
 * for all queues of an isolate.
 */
export class FullStorages {
  readonly #disk: Disk | undefined;
  readonly #foundMs = new Map<string, number>();
  readonly #reset = new Set<string>();
  /** Queues with a commit that is not known to be durable. */
  readonly #uncertain = new Set<string>();

  /** @param disk while it is full, every queue refuses sends. */
  constructor(disk?: Disk) {
    this.#disk = disk;
  }

  /** A commit found no room; the object is about to be reset. */
  found(queue: string, nowMs: number): void {
    this.#foundMs.set(queue, nowMs);
    this.#reset.add(queue);
  }

  /** Whether a send is to be refused without trying. */
  refuses(queue: string, nowMs: number): boolean {
    if (this.#disk?.isFull === true) return true;
    const foundMs = this.#foundMs.get(queue);
    if (foundMs === undefined) return false;
    if (nowMs < foundMs + STORAGE_FULL_MS) return true;
    this.#foundMs.delete(queue);
    return false;
  }

  /**
   * Keeps track of the commits of a queue. When the platform cannot write one, it resets the object at once and runs
   * none of its code: the next object finds that the commit is still uncertain.
   */
  watch(queue: string): CommitWatcher {
    return {
      committed: () => void this.#uncertain.add(queue),
      durable: () => void this.#uncertain.delete(queue),
    };
  }

  /** Whether the epoch before this one ended because something could not be written. Asked once, at the start. */
  takeReset(queue: string): boolean {
    const wasUncertain = this.#uncertain.delete(queue);
    return this.#reset.delete(queue) || wasUncertain;
  }
}
