import type { QueueAtRest } from "@sluice/protocol";
import { type CommitPosition, furthest, NO_COMMITS } from "../src/rpc/commit-position.ts";
import { CHECK_AGAIN_MS, type Loss, type PositionDirectory, Watermark } from "../src/store/watermark.ts";

/** A store as far as the watermark sees it, with a directory and timers that the test drives. */
export class WatermarkBench {
  stored: CommitPosition = NO_COMMITS;
  commits = 0;
  reported: CommitPosition | null = null;
  readonly reports: CommitPosition[] = [];
  /** Snapshot for the queue's next reports; `snapshots` has those that were reported. */
  snapshot: QueueAtRest | null = null;
  readonly snapshots: (QueueAtRest | null)[] = [];
  readonly losses: Loss[] = [];
  /** Whether the queue's object has ended. */
  isOver = false;
  readonly lines: string[] = [];
  isBilled = false;
  nowMs = 0;
  timers: { readonly callback: () => void; readonly ms: number }[] = [];
  directory: PositionDirectory = {
    position: async () => this.reported,
    report: async (position, snapshot) => {
      const known = this.reported;
      this.snapshots.push(snapshot);
      this.reported = furthest(known ?? NO_COMMITS, position);
      this.reports.push(position);
      return known;
    },
  };
  readonly watermark: Watermark;

  constructor() {
    const bench = this;
    this.watermark = new Watermark("orders", {
      store: {
        readPosition: () => this.stored,
        raiseCommits: (to: number) => this.#raise(to),
        get commits() {
          return bench.commits;
        },
      },
      directory: {
        position: () => this.directory.position(),
        report: (...args) => this.directory.report(...args),
      },
      log: {
        handled() {},
        message() {},
        info() {},
        warn: (text) => this.lines.push(text),
        error: (text) => this.lines.push(text),
      },
      get isBilled() {
        return bench.isBilled;
      },
      now: () => this.nowMs,
      schedule: (callback, ms) => {
        const timer = { callback, ms };
        this.timers.push(timer);
        return () => {
          this.timers = this.timers.filter((one) => one !== timer);
        };
      },
    });
  }

  /** An epoch begins on what is stored. */
  async start(isIdleKnown = false) {
    this.commits = this.stored.commits;
    const status = await this.watermark.check();
    this.watermark.begin(
      {
        writePosition: async () => {
          if (this.isOver) return null;
          this.commit();
          this.stored = { epoch: status.epoch + 1, commits: this.commits, messages: 2 * this.commits };
          return { position: this.stored, snapshot: this.snapshot };
        },
        foundLoss: (loss) => this.losses.push(loss),
      },
      isIdleKnown,
    );
    return status;
  }

  /** An epoch begins whose questions to the directory all fail. Later ones are answered. */
  async startUnanswered(): Promise<void> {
    const { position } = this.directory;
    this.directory.position = () => Promise.reject(new Error("not yet"));
    const started = this.start();
    for (const ms of CHECK_AGAIN_MS) await this.pass(ms);
    await started;
    this.directory.position = position;
  }

  commit(): void {
    this.commits += 1;
    this.watermark.committed();
  }

  /** Lets every timer that is set ring, and what it does end. */
  async ring(): Promise<void> {
    const timers = this.timers;
    this.timers = [];
    for (const { callback } of timers) callback();
    await this.quiet();
  }

  /** Lets end what has begun. */
  quiet(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  /** Lets a timer ring that was set for so long, once it is set. */
  async pass(ms: number | undefined): Promise<void> {
    await this.quiet();
    const timer = this.timers.find((one) => one.ms === ms);
    if (timer === undefined) throw new Error(`no timer is set for ${ms} ms`);
    this.timers = this.timers.filter((one) => one !== timer);
    timer.callback();
    await this.quiet();
  }

  #raise(to: number): void {
    this.commits = Math.max(this.commits, to);
  }
}
