import type { QueueAtRest } from "@sluice/protocol";
import type { QueueLog } from "./log.ts";
import { furthest, isBehind, type Mark, NO_MARK } from "./mark.ts";

/**
 * Longest that a commit goes unreported, in ms. A report is two rows written, one here and one in the directory, and is
 * made only when there was a commit: an idle queue costs nothing, a busy one two rows per five seconds.
 */
export const REPORT_AFTER_MS = 5_000;
/** Longest that a queue waits at its start for the directory to answer, in ms. */
export const CHECK_MS_MAX = 5_000;

/** Where it is known outside of the queue how far that has come. */
export interface MarkDirectory {
  /** How far the queue had come by its latest report, `null` if it never made one. */
  markOf(queue: string): Promise<Mark | null>;
  /** Takes a report, and answers with what was known before it. A report can be late: no number gets smaller. */
  report(queue: string, mark: Mark, rest: QueueAtRest | null): Promise<Mark | null>;
}

/** What of a store the watermark looks at. */
export interface MarkedStore {
  readonly commits: number;
  readMark(): Mark;
  raiseCommits(to: number): void;
}

export interface WatermarkPorts {
  readonly store: MarkedStore;
  readonly directory: MarkDirectory;
  readonly log: QueueLog;
  schedule(callback: () => void, ms: number): void;
}

/** What a queue learns about itself at its start. */
export interface Standing {
  /** Lives that there were, by the store or by the directory: the next one is a later one. */
  readonly epoch: number;
  readonly loss: Loss | null;
}

/** What the store lacks, at most. */
export interface Loss {
  readonly commits: number;
  readonly messages: number;
}

/** What a queue tells the directory. */
export interface Report {
  readonly mark: Mark;
  /** What the queue is as of the mark, if nothing but a call can change it; else `null`. */
  readonly rest: QueueAtRest | null;
}

/** What reporting needs of a running queue. */
export interface Reporter {
  /** Writes down where the queue is, durably, and answers with it. */
  writeMark(): Promise<Report>;
  /** The store turns out to have been an older one at the start, which could not be asked about then. */
  foundLoss(loss: Loss): void;
}

/**
 * Tells when a queue's store has become an older one. SQLite drops the damaged end of its log without a word, and a file
 * can be lost altogether; so each queue reports how far it has come to the directory, which lies in another file, and
 * asks at its start. What was committed after the latest report is not covered: at most `REPORT_AFTER_MS` of commits.
 */
export class Watermark {
  readonly #queue: string;
  readonly #ports: WatermarkPorts;
  /** Where the store was at the start, as long as it could not be compared with what was reported. */
  #unchecked: Mark | null = null;
  #reporter: Reporter | null = null;
  #reportedCommits = 0;
  #isScheduled = false;
  /** Whether the directory knows the queue to be at rest, as it is now. */
  #isRestKnown = false;
  /** Whether a report is to be made although nothing was committed. */
  #isRestWanted = false;
  #isFailing = false;

  constructor(queue: string, ports: WatermarkPorts) {
    this.#queue = queue;
    this.#ports = ports;
  }

  /** Compares the store with what was reported. Never rejects: a queue must not depend on the directory. */
  async check(): Promise<Standing> {
    const { store, log } = this.#ports;
    const own = store.readMark();
    try {
      const reported = (await this.#within(CHECK_MS_MAX)) ?? NO_MARK;
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
   * From now on reports are made; what an earlier life did not get to report is.
   *
   * @param isRestKnown whether the directory knows of the queue that it is at rest.
   */
  begin(reporter: Reporter, isRestKnown: boolean): void {
    this.#reporter = reporter;
    this.#isRestKnown = isRestKnown;
    this.#plan();
  }

  /** The queue is gone: nothing is reported any more. */
  end(): void {
    this.#reporter = null;
  }

  /** There was a commit. */
  committed(): void {
    this.#isRestKnown = false;
    this.#plan();
  }

  /**
   * Somebody has looked at the queue, and it is at rest. Time alone may have brought it there, which commits nothing: the
   * directory learns of it once, and nobody has to wake the queue for its figures again.
   */
  seenAtRest(): void {
    if (this.#isRestKnown) return;
    this.#isRestWanted = true;
    this.#plan();
  }

  #plan(): void {
    const { store, schedule } = this.#ports;
    if (this.#reporter === null || this.#isScheduled) return;
    if (store.commits <= this.#reportedCommits && !this.#isRestWanted) return;
    this.#isScheduled = true;
    schedule(() => void this.#report(), REPORT_AFTER_MS);
  }

  async #report(): Promise<void> {
    const { directory, log, store } = this.#ports;
    this.#isRestWanted = false;
    try {
      const report = await this.#reporter?.writeMark();
      if (report !== undefined) {
        const { mark, rest } = report;
        const known = await directory.report(this.#queue, mark, rest);
        this.#reportedCommits = mark.commits;
        this.#isRestKnown = rest !== null && store.commits <= mark.commits;
        this.#isFailing = false;
        this.#checkLate(known ?? NO_MARK);
      }
    } catch (error) {
      if (!this.#isFailing) log.warn(`Queue "${this.#queue}": the directory takes no report: ${error}`);
      this.#isFailing = true;
    }
    this.#isScheduled = false;
    this.#plan();
  }

  #checkLate(known: Mark): void {
    if (this.#unchecked === null) return;
    const loss = lossOf(this.#unchecked, known);
    this.#unchecked = null;
    if (loss !== null) this.#reporter?.foundLoss(loss);
  }

  #within(ms: number): Promise<Mark | null> {
    return new Promise((resolve, reject) => {
      this.#ports.schedule(() => reject(new Error(`no answer within ${ms / 1000} s`)), ms);
      this.#ports.directory.markOf(this.#queue).then(resolve, reject);
    });
  }
}

/** What a store at `own` lacks of what was `reported`, `null` if nothing. */
function lossOf(own: Mark, reported: Mark): Loss | null {
  if (!isBehind(own, reported)) return null;
  return {
    // Of a life that left no trace at all, it is only known that it committed something.
    commits: Math.max(1, reported.commits - own.commits),
    messages: Math.max(0, reported.messages - own.messages),
  };
}
