import type { QueueAtRest } from "@sluice/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { furthest, type Mark, NO_MARK } from "./mark.ts";
import { CHECK_MS_MAX, type Loss, type MarkDirectory, REPORT_AFTER_MS, Watermark } from "./watermark.ts";

/** A store as far as the watermark sees it, with a directory and timers that the test drives. */
class Bench {
  stored: Mark = NO_MARK;
  commits = 0;
  reported: Mark | null = null;
  readonly reports: Mark[] = [];
  /** What the queue is as of its next reports, and what was reported of that. */
  rest: QueueAtRest | null = null;
  readonly rests: (QueueAtRest | null)[] = [];
  readonly losses: Loss[] = [];
  readonly lines: string[] = [];
  timers: { readonly callback: () => void; readonly ms: number }[] = [];
  directory: MarkDirectory = {
    markOf: async () => this.reported,
    report: async (_queue, mark, rest) => {
      const known = this.reported;
      this.rests.push(rest);
      this.reported = furthest(known ?? NO_MARK, mark);
      this.reports.push(mark);
      return known;
    },
  };
  readonly watermark = new Watermark("orders", {
    store: {
      ...{ readMark: () => this.stored, raiseCommits: (to: number) => this.#raise(to) },
      get commits() {
        return bench.commits;
      },
    },
    directory: {
      markOf: (queue) => this.directory.markOf(queue),
      report: (...args) => this.directory.report(...args),
    },
    log: {
      handled() {},
      info() {},
      warn: (text) => this.lines.push(text),
      error: (text) => this.lines.push(text),
    },
    schedule: (callback, ms) => this.timers.push({ callback, ms }),
  });

  /** A life begins on what is stored. */
  async start(isRestKnown = false) {
    this.commits = this.stored.commits;
    const standing = await this.watermark.check();
    this.timers = [];
    this.watermark.begin(
      {
        writeMark: async () => {
          this.commits += 1;
          this.stored = { epoch: standing.epoch + 1, commits: this.commits, messages: 2 * this.commits };
          return { mark: this.stored, rest: this.rest };
        },
        foundLoss: (loss) => this.losses.push(loss),
      },
      isRestKnown,
    );
    return standing;
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
    await new Promise((resolve) => setImmediate(resolve));
  }

  #raise(to: number): void {
    this.commits = Math.max(this.commits, to);
  }
}

const REST = { queueId: "a1", description: { queue: "orders", ready: 0 } } as QueueAtRest;

let bench: Bench;

beforeEach(() => {
  bench = new Bench();
});

describe("a store that is compared with what was reported", () => {
  const mark = (epoch: number, commits: number, messages: number): Mark => ({ epoch, commits, messages });

  it.each<[string, Mark, Mark | null, Loss | null]>([
    ["nothing was reported", mark(2, 10, 20), null, null],
    ["it is where the report was", mark(2, 10, 20), mark(2, 10, 20), null],
    ["it is one commit ahead", mark(2, 11, 20), mark(2, 10, 20), null],
    ["it is one commit behind", mark(2, 9, 19), mark(2, 10, 20), { commits: 1, messages: 1 }],
    ["it is a life behind", mark(1, 15, 20), mark(2, 10, 20), { commits: 1, messages: 0 }],
    ["it is empty", NO_MARK, mark(2, 10, 20), { commits: 10, messages: 20 }],
  ])("knows what it lacks when %s", async (_when, stored, reported, loss) => {
    bench.stored = stored;
    bench.reported = reported;
    expect(await bench.start()).toEqual({ epoch: Math.max(stored.epoch, reported?.epoch ?? 0), loss });
    expect(bench.commits).toBe(Math.max(stored.commits, reported?.commits ?? 0));
  });
});

describe("reports", () => {
  it(`are made ${REPORT_AFTER_MS} ms after a commit, one for all that follow it until then`, async () => {
    await bench.start();
    expect(bench.timers).toEqual([]);
    for (let i = 0; i < 100; i++) bench.commit();
    expect(bench.timers.map(({ ms }) => ms)).toEqual([REPORT_AFTER_MS]);
    await bench.ring();
    expect(bench.reports).toEqual([{ epoch: 1, commits: 101, messages: 202 }]);
  });

  it("are not made of their own commit, so that an idle queue rests", async () => {
    await bench.start();
    bench.commit();
    await bench.ring();
    expect(bench.timers).toEqual([]);
    bench.commit();
    expect(bench.timers).toHaveLength(1);
  });

  it("make up for what an earlier life did not get to report", async () => {
    bench.stored = { epoch: 1, commits: 7, messages: 7 };
    bench.reported = { epoch: 1, commits: 5, messages: 5 };
    await bench.start();
    expect(bench.timers).toHaveLength(1);
  });

  it("say what the queue is if it is at rest, and are made anew when only time has brought it there", async () => {
    await bench.start();
    bench.commit();
    await bench.ring();
    bench.rest = REST;
    bench.watermark.seenAtRest();
    bench.watermark.seenAtRest();
    expect(bench.timers).toHaveLength(1);
    await bench.ring();
    expect(bench.rests).toEqual([null, REST]);
    bench.watermark.seenAtRest();
    expect(bench.timers).toEqual([]);
    bench.commit();
    await bench.ring();
    expect(bench.rests).toEqual([null, REST, REST]);
  });

  it("of what the directory knows from an earlier life are not made", async () => {
    await bench.start(true);
    bench.watermark.seenAtRest();
    expect(bench.timers).toEqual([]);
    await bench.start(false);
    bench.watermark.seenAtRest();
    expect(bench.timers).toHaveLength(1);
  });

  it("that were overtaken by a commit do not count as the queue's rest", async () => {
    await bench.start();
    bench.rest = REST;
    const { report } = bench.directory;
    bench.directory.report = (...args) => {
      bench.commit();
      return report(...args);
    };
    bench.commit();
    await bench.ring();
    expect(bench.timers).toHaveLength(1);
    bench.directory.report = report;
    await bench.ring();
    expect(bench.rests).toEqual([REST, REST]);
    bench.watermark.seenAtRest();
    expect(bench.timers).toEqual([]);
  });

  it("that fail are made again, and said once", async () => {
    await bench.start();
    const { report } = bench.directory;
    bench.directory.report = () => Promise.reject(new Error("no room"));
    bench.commit();
    await bench.ring();
    await bench.ring();
    expect(bench.lines).toEqual(['Queue "orders": the directory takes no report: Error: no room']);
    bench.directory.report = report;
    await bench.ring();
    expect(bench.reports).toHaveLength(1);
  });
});

describe("a directory that does not answer", () => {
  it.each([
    ["fails", () => Promise.reject(new Error("unreadable")), "Error: unreadable"],
    ["hangs", () => new Promise<never>(() => {}), `Error: no answer within ${CHECK_MS_MAX / 1000} s`],
  ])("and %s does not keep the queue from starting", async (_how, markOf, reason) => {
    bench.stored = { epoch: 3, commits: 7, messages: 7 };
    bench.directory.markOf = markOf;
    const checked = bench.watermark.check();
    await Promise.resolve();
    await bench.ring();
    expect(await checked).toEqual({ epoch: 3, loss: null });
    expect(bench.lines).toEqual([
      `Queue "orders": the directory does not answer, so whether anything is missing is not known: ${reason}`,
    ]);
  });

  it("tells of a loss later, with the first report", async () => {
    bench.stored = { epoch: 3, commits: 7, messages: 7 };
    bench.reported = { epoch: 3, commits: 9, messages: 10 };
    const { markOf } = bench.directory;
    bench.directory.markOf = () => Promise.reject(new Error("not yet"));
    await bench.start();
    bench.directory.markOf = markOf;
    for (let i = 0; i < 5; i++) bench.commit();
    await bench.ring();
    expect(bench.losses).toEqual([{ commits: 2, messages: 3 }]);
    bench.commit();
    await bench.ring();
    expect(bench.losses).toHaveLength(1);
  });
});
