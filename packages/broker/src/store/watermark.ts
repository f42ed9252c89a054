import type { QueueAtRest } from "@sluice/protocol";
import type { QueueLog } from "../platform/log.ts";
import { type CommitPosition, furthest, isBehind, isSame, NO_COMMITS } from "../rpc/commit-position.ts";

/**
 * Time from a commit to its report, in ms; where rows are billed, the shortest time between two reports. A report
 * writes two rows, one here and one in the directory, and only after a commit: an idle queue costs nothing.
 */
export const REPORT_AFTER_MS = 5_000;
/**
 * Commits that make a report due where rows are billed. It is two rows and a request, so it adds a hundredth to what
 * they cost. A timer for fewer would keep the object awake for `REPORT_AFTER_MS`: the price of eight rows.
 */
export const REPORT_COMMITS = 200;
/** Longest time that the start of a queue waits for the directory, in ms. */
export const CHECK_MS_MAX = 5_000;
/** Waits before a failed directory is asked again, in ms. A deployment may reset it while queues start. */
export const CHECK_AGAIN_MS: readonly number[] = [50, 200, 1_000];

/** Directory, which keeps the reported position of a queue. */
export interface PositionDirectory {
  /** Returns the position of the latest report, `null` if there was none. */
  position(): Promise<CommitPosition | null>;
  /** Takes a report. It can be late, so no number gets smaller. @returns the position known before it. */
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
  /** Whether rows and time awake are billed: then few commits wait for more to share their report. */
  readonly isBilled: boolean;
  now(): number;
  /** Calls back after a time in ms. @returns a function that cancels it. */
  schedule(callback: () => void, ms: number): () => void;
}

/** Result of comparing a store with the reported position, at the queue's start. */
export interface StoreCheck {
  /** Latest epoch that the store or the directory knows. The next one must be later. */
  readonly epoch: number;
  readonly loss: Loss | null;
  /** Why the store could not be compared; `null` where it was. A later report finds a loss then. */
  readonly unchecked: Unchecked | null;
}

/** Reason why it is unknown whether a store has lost anything, for the log. */
export interface Unchecked {
  readonly text: string;
  readonly reason: string;
}

/** Most commits and messages that the store can lack. */
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
  /** Writes the position of the queue durably. @returns the report, `null` once the queue's object has ended. */
  writePosition(): Promise<Report | null>;
  /** Takes a loss that is found after the start, when the directory did not answer then. */
  foundLoss(loss: Loss): void;
}

/**
 * Detects that a queue's store has become an older one. SQLite drops the damaged end of its log silently, and a file
 * can be lost. So each queue reports its position to the directory, which lies in another file, and compares the two at
 * its start. Commits after the latest report are not covered: at most those of `REPORT_AFTER_MS`, and where rows are
 * billed `REPORT_COMMITS` more.
 */
export class Watermark {
  readonly #queue: string;
  readonly #ports: WatermarkPorts;
  /** Position of the store at the start, until it is compared with the reported one; else `null`. */
  #unchecked: CommitPosition | null = null;
  /** Positions that were reported since. One whose answer was lost comes back as the position known before the next. */
  #sent: CommitPosition[] = [];
  #reporter: Reporter | null = null;
  #reportedCommits = 0;
  #isScheduled = false;
  /** Whether the directory knows the queue to be idle, as it is now. */
  #isIdleKnown = false;
  /** Whether a report is to be made at once, without a new commit too. */
  #isReportWanted = false;
  /** Whether a caller has asked for the queue's figures since the last report. */
  #isAsked = false;
  #reportedMs = Number.NEGATIVE_INFINITY;
  #isFailing = false;

  constructor(queue: string, ports: WatermarkPorts) {
    this.#queue = queue;
    this.#ports = ports;
  }

  /** Compares the store with the reported position. Never rejects: a queue must not depend on the directory. */
  async check(): Promise<StoreCheck> {
    const { store } = this.#ports;
    const own = store.readPosition();
    try {
      const reported = (await this.#within(CHECK_MS_MAX)) ?? NO_COMMITS;
      this.#reportedCommits = reported.commits;
      store.raiseCommits(reported.commits);
      return { epoch: furthest(own, reported).epoch, loss: lossOf(own, reported), unchecked: null };
    } catch (error) {
      this.#unchecked = own;
      // A queue that is new has nothing to lose.
      const so = isSame(own, NO_COMMITS) ? "" : ", so a loss of data cannot be ruled out";
      const unchecked = { text: `the directory does not answer${so}`, reason: `${error}` };
      return { epoch: own.epoch, loss: null, unchecked };
    }
  }

  /**
   * Begins to report, commits of an earlier epoch too.
   *
   * @param isIdleKnown whether the directory knows that the queue is idle.
   */
  begin(reporter: Reporter, isIdleKnown: boolean): void {
    this.#reporter = reporter;
    this.#isIdleKnown = isIdleKnown;
    this.#plan();
  }

  /** Ends reporting, when the queue is gone. */
  end(): void {
    this.#reporter = null;
  }

  /** Takes note of a commit. */
  committed(): void {
    // The figures that the directory answers with are those of an idle queue, and no longer true.
    if (this.#isIdleKnown) this.#isReportWanted = true;
    this.#isIdleKnown = false;
    this.#plan();
  }

  /**
   * Plans a report of a queue that a caller found idle. It may have become idle without a commit, by time alone, or by
   * commits that wait for their report. Once the directory knows it, the queue need not wake for its figures again.
   */
  seenIdle(): void {
    if (this.#isIdleKnown) return;
    this.#isAsked = true;
    this.#isReportWanted = true;
    this.#plan();
  }

  #plan(): void {
    if (this.#reporter === null || this.#isScheduled) return;
    const waitMs = this.#waitMs();
    if (waitMs === null) return;
    this.#isScheduled = true;
    if (waitMs > 0) this.#ports.schedule(() => void this.#report(), waitMs);
    else void this.#report();
  }

  /** Time until a report is due, in ms; `null` if none is. */
  #waitMs(): number | null {
    const { store, isBilled, now } = this.#ports;
    const commits = store.commits - this.#reportedCommits;
    if (commits <= 0 && !this.#isReportWanted) return null;
    if (!isBilled || this.#isFailing || this.#unchecked !== null) return REPORT_AFTER_MS;
    if (this.#isReportWanted) return 0;
    return commits < REPORT_COMMITS ? null : Math.max(0, this.#reportedMs + REPORT_AFTER_MS - now());
  }

  async #report(): Promise<void> {
    const { directory, log, store, isBilled } = this.#ports;
    this.#isReportWanted = false;
    this.#isIdleKnown = false;
    this.#reportedMs = this.#ports.now();
    const wasAsked = this.#isAsked;
    this.#isAsked = false;
    try {
      const report = await this.#reporter?.writePosition();
      if (report === null) this.end();
      else if (report !== undefined) {
        const { position } = report;
        // Figures that no caller has asked for are not worth a report at the next commit, which makes them outdated.
        const snapshot = isBilled && !wasAsked ? null : report.snapshot;
        if (this.#unchecked !== null) this.#sent.push(position);
        const known = await directory.report(position, snapshot);
        this.#reportedCommits = position.commits;
        const isOvertaken = store.commits > position.commits;
        this.#isIdleKnown = snapshot !== null && !isOvertaken;
        this.#isReportWanted ||= snapshot !== null && isOvertaken;
        this.#isFailing = false;
        this.#checkLate(known ?? NO_COMMITS);
      }
    } catch (error) {
      if (!this.#isFailing) log.warn(`Queue "${this.#queue}": the directory takes no report: ${error}`);
      this.#isFailing = true;
      this.#isReportWanted = true;
      this.#isAsked ||= wasAsked;
    }
    this.#isScheduled = false;
    this.#plan();
  }

  #checkLate(known: CommitPosition): void {
    if (this.#unchecked === null) return;
    const isOwn = this.#sent.some((sent) => isSame(sent, known));
    const loss = isOwn ? null : lossOf(this.#unchecked, known);
    this.#unchecked = null;
    this.#sent = [];
    if (loss !== null) this.#reporter?.foundLoss(loss);
  }

  #within(ms: number): Promise<CommitPosition | null> {
    return new Promise((resolve, reject) => {
      const cancel = this.#ports.schedule(() => reject(new Error(`no answer within ${ms / 1000} s`)), ms);
      // A timer that runs on keeps the object awake.
      this.#position(CHECK_AGAIN_MS).finally(cancel).then(resolve, reject);
    });
  }

  /** Asks the directory for the position. @param waitsMs before each further attempt. */
  async #position([waitMs, ...others]: readonly number[]): Promise<CommitPosition | null> {
    try {
      return await this.#ports.directory.position();
    } catch (error) {
      if (waitMs === undefined) throw error;
      await new Promise<void>((resolve) => void this.#ports.schedule(resolve, waitMs));
      return this.#position(others);
    }
  }
}

/** Computes the loss of a store at `own` by the `reported` position, `null` if nothing is lost. */
function lossOf(own: CommitPosition, reported: CommitPosition): Loss | null {
  if (!isBehind(own, reported)) return null;
  return {
    // An epoch without any trace committed at least once.
    commits: Math.max(1, reported.commits - own.commits),
    messages: Math.max(0, reported.messages - own.messages),
  };
}
