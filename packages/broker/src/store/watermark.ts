import type { QueueAtRest } from "@sluice/protocol";
import type { QueueLog } from "../platform/log.ts";
import { type CommitPosition, furthest, isBehind, NO_COMMITS } from "../rpc/commit-position.ts";

/**
 * Longest that a commit goes unreported, in ms. A report is two rows written, one here and one in the directory, and is
 * made only when there was a commit: an idle queue costs nothing, a busy one two rows per five seconds.
 */
export const REPORT_AFTER_MS = 5_000;
/** Longest that a queue waits at its start for the directory to answer, in ms. */
export const CHECK_MS_MAX = 5_000;
/**
 * When a directory that fails is asked again, in ms: a deployment may reset it while queues start, and then it is away
 * for a moment.
 */
export const CHECK_AGAIN_MS: readonly number[] = [50, 200, 1_000];

/** Where it is known outside of the queue how far that has come. */
export interface PositionDirectory {
  /** How far the queue had come by its latest report, `null` if it never made one. */
  position(): Promise<CommitPosition | null>;
  /** Takes a report, and answers with what was known before it. A report can be late: no number gets smaller. */
  report(position: CommitPosition, snapshot: QueueAtRest | null): Promise<CommitPosition | null>;
}

/** Parts of a store that the watermark uses. */
export interface PositionedStore {
  readonly commits: number;
  readPosition(): CommitPosition;
  raiseCommits(to: number): void;
}

export interface WatermarkPorts {
  readonly store: PositionedStore;
  readonly directory: PositionDirectory;
  readonly log: QueueLog;
  schedule(callback: () => void, ms: number): void;
}

/** Result of the comparison of a store with what was reported, at the queue's start. */
export interface StoreCheck {
  /** Epochs that there were, by the store or by the directory: the next one is a later one. */
  readonly epoch: number;
  readonly loss: Loss | null;
}

/** Commits and messages that the store lacks, at most. */
export interface Loss {
  readonly commits: number;
  readonly messages: number;
}

/** Report of a queue to the directory. */
export interface Report {
  readonly position: CommitPosition;
  /** Snapshot of the queue at that position, if nothing but a call can change it; else `null`. */
  readonly snapshot: QueueAtRest | null;
}

/** Operations of a running queue that reporting uses. */
export interface Reporter {
  /** Writes down where the queue is, durably, and answers with it; `null` once the queue's object has ended. */
  writePosition(): Promise<Report | null>;
  /** The store turns out to have been an older one at the start, which could not be asked about then. */
  foundLoss(loss: Loss): void;
}

/**
 * Tells when a queue's store has become an older one. SQLite drops the damaged end of its log without a word, and a
 * file can be lost altogether; so each queue reports how far it has come to the directory, which lies in another file,
 * and asks at its start. What was committed after the latest report is not covered: at most `REPORT_AFTER_MS` of
 * commits.
 */
export class Watermark {
  readonly #queue: string;
  readonly #ports: WatermarkPorts;
  /** Where the store was at the start, as long as it could not be compared with what was reported. */
  #unchecked: CommitPosition | null = null;
  #reporter: Reporter | null = null;
  #reportedCommits = 0;
  #isScheduled = false;
  /** Whether the directory knows the queue to be idle, as it is now. */
  #isIdleKnown = false;
  /** Whether a report is to be made although nothing was committed. */
  #isReportWanted = false;
  #isFailing = false;

  constructor(queue: string, ports: WatermarkPorts) {
    this.#queue = queue;
    this.#ports = ports;
  }

  /** Compares the store with what was reported. Never rejects: a queue must not depend on the directory. */
  async check(): Promise<StoreCheck> {
    const { store, log } = this.#ports;
    const own = store.readPosition();
    try {
      const reported = (await this.#within(CHECK_MS_MAX)) ?? NO_COMMITS;
      this.#reportedCommits = reported.commits;
      store.raiseCommits(reported.commits);
      return { epoch: furthest(own, reported).epoch, loss: lossOf(own, reported) };
    } catch (error) {
      this.#unchecked = own;
      log.warn(
        `Queue "${this.#queue}": the directory does not answer, so whether anything is missing is not known: ${error}`,
      );
      return { epoch: own.epoch, loss: null };
    }
  }

  /**
   * From now on reports are made; what an earlier epoch did not get to report is.
   *
   * @param isIdleKnown whether the directory knows that the queue is idle.
   */
  begin(reporter: Reporter, isIdleKnown: boolean): void {
    this.#reporter = reporter;
    this.#isIdleKnown = isIdleKnown;
    this.#plan();
  }

  /** The queue is gone: nothing is reported any more. */
  end(): void {
    this.#reporter = null;
  }

  /** There was a commit. */
  committed(): void {
    this.#isIdleKnown = false;
    this.#plan();
  }

  /**
   * Plans a report of a queue that a caller found idle. Time alone may have brought it there, which commits nothing:
   * the directory learns of it once, and the queue need not wake for its figures again.
   */
  seenIdle(): void {
    if (this.#isIdleKnown) return;
    this.#isReportWanted = true;
    this.#plan();
  }

  #plan(): void {
    const { store, schedule } = this.#ports;
    if (this.#reporter === null || this.#isScheduled) return;
    if (store.commits <= this.#reportedCommits && !this.#isReportWanted) return;
    this.#isScheduled = true;
    schedule(() => void this.#report(), REPORT_AFTER_MS);
  }

  async #report(): Promise<void> {
    const { directory, log, store } = this.#ports;
    this.#isReportWanted = false;
    try {
      const report = await this.#reporter?.writePosition();
      if (report === null) this.end();
      else if (report !== undefined) {
        const { position, snapshot } = report;
        const known = await directory.report(position, snapshot);
        this.#reportedCommits = position.commits;
        this.#isIdleKnown = snapshot !== null && store.commits <= position.commits;
        this.#isFailing = false;
        this.#checkLate(known ?? NO_COMMITS);
      }
    } catch (error) {
      if (!this.#isFailing) log.warn(`Queue "${this.#queue}": the directory takes no report: ${error}`);
      this.#isFailing = true;
    }
    this.#isScheduled = false;
    this.#plan();
  }

  #checkLate(known: CommitPosition): void {
    if (this.#unchecked === null) return;
    const loss = lossOf(this.#unchecked, known);
    this.#unchecked = null;
    if (loss !== null) this.#reporter?.foundLoss(loss);
  }

  #within(ms: number): Promise<CommitPosition | null> {
    return new Promise((resolve, reject) => {
      this.#ports.schedule(() => reject(new Error(`no answer within ${ms / 1000} s`)), ms);
      this.#position(CHECK_AGAIN_MS).then(resolve, reject);
    });
  }

  /** @param waitsMs before each further attempt. */
  async #position([waitMs, ...others]: readonly number[]): Promise<CommitPosition | null> {
    try {
      return await this.#ports.directory.position();
    } catch (error) {
      if (waitMs === undefined) throw error;
      await new Promise<void>((resolve) => this.#ports.schedule(resolve, waitMs));
      return this.#position(others);
    }
  }
}

/** Computes the loss of a store at `own` by the position that was `reported`, `null` if nothing is lost. */
function lossOf(own: CommitPosition, reported: CommitPosition): Loss | null {
  if (!isBehind(own, reported)) return null;
  return {
    // Of an epoch that left no trace at all, it is only known that it committed something.
    commits: Math.max(1, reported.commits - own.commits),
    messages: Math.max(0, reported.messages - own.messages),
  };
}
