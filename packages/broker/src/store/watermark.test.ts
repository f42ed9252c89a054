import type { QueueAtRest } from "@sluice/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { WatermarkBench } from "../../test/watermark-bench.ts";
import { type CommitPosition, NO_COMMITS } from "../rpc/commit-position.ts";
import { CHECK_AGAIN_MS, CHECK_MS_MAX, type Loss, REPORT_AFTER_MS, REPORT_COMMITS } from "./watermark.ts";

const REST = { queueId: "a1", description: { queue: "orders", ready: 0 } } as QueueAtRest;

let bench: WatermarkBench;

beforeEach(() => {
  bench = new WatermarkBench();
});

describe("a store that is compared with what was reported", () => {
  const position = (epoch: number, commits: number, messages: number): CommitPosition => ({
    epoch,
    commits,
    messages,
  });

  it.each<[string, CommitPosition, CommitPosition | null, Loss | null]>([
    ["nothing was reported", position(2, 10, 20), null, null],
    ["it is where the report was", position(2, 10, 20), position(2, 10, 20), null],
    ["it is one commit ahead", position(2, 11, 20), position(2, 10, 20), null],
    ["it is one commit behind", position(2, 9, 19), position(2, 10, 20), { commits: 1, messages: 1 }],
    ["it is an epoch behind", position(1, 15, 20), position(2, 10, 20), { commits: 1, messages: 0 }],
    ["it is empty", NO_COMMITS, position(2, 10, 20), { commits: 10, messages: 20 }],
  ])("a store knows what it lacks when %s", async (_when, stored, reported, loss) => {
    bench.stored = stored;
    bench.reported = reported;
    const epoch = Math.max(stored.epoch, reported?.epoch ?? 0);
    expect(await bench.start()).toEqual({ epoch, loss, unchecked: null });
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

  it("are not made, or tried again, once the queue's object has ended", async () => {
    await bench.start();
    bench.commit();
    bench.isOver = true;
    await bench.ring();
    expect([bench.timers, bench.reports]).toEqual([[], []]);
    bench.commit();
    expect(bench.timers).toEqual([]);
  });

  it("make up for what an earlier epoch did not get to report", async () => {
    bench.stored = { epoch: 1, commits: 7, messages: 7 };
    bench.reported = { epoch: 1, commits: 5, messages: 5 };
    await bench.start();
    expect(bench.timers).toHaveLength(1);
  });

  it("say what the queue is if it is idle, and are made anew when only time has brought it there", async () => {
    await bench.start();
    bench.commit();
    await bench.ring();
    bench.snapshot = REST;
    bench.watermark.seenIdle();
    bench.watermark.seenIdle();
    expect(bench.timers).toHaveLength(1);
    await bench.ring();
    expect(bench.snapshots).toEqual([null, REST]);
    bench.watermark.seenIdle();
    expect(bench.timers).toEqual([]);
    bench.commit();
    await bench.ring();
    expect(bench.snapshots).toEqual([null, REST, REST]);
  });

  it("no report is made of commits that the directory knows from an earlier epoch", async () => {
    await bench.start(true);
    bench.watermark.seenIdle();
    expect(bench.timers).toEqual([]);
    await bench.start(false);
    bench.watermark.seenIdle();
    expect(bench.timers).toHaveLength(1);
  });

  it("a report that a commit has overtaken does not count as the queue's snapshot", async () => {
    await bench.start();
    bench.snapshot = REST;
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
    expect(bench.snapshots).toEqual([REST, REST]);
    bench.watermark.seenIdle();
    expect(bench.timers).toEqual([]);
  });

  it("failed reports are made again, and logged once", async () => {
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

describe("reports where rows are billed", () => {
  beforeEach(() => {
    bench.isBilled = true;
  });

  const commit = async (times: number) => {
    for (let i = 0; i < times; i++) bench.commit();
    await bench.quiet();
  };

  it.each([
    [REPORT_COMMITS - 1, 0],
    [REPORT_COMMITS, 1],
    [REPORT_COMMITS + 1, 1],
  ])("after %i commits %i report is made, and no timer keeps the object awake", async (commits, reports) => {
    await bench.start();
    await commit(commits);
    expect([bench.reports.length, bench.timers]).toEqual([reports, []]);
  });

  it("count commits of earlier epochs", async () => {
    bench.stored = { epoch: 1, commits: REPORT_COMMITS + 4, messages: 7 };
    bench.reported = { epoch: 1, commits: 5, messages: 5 };
    await bench.start();
    expect(bench.reports).toEqual([]);
    await commit(1);
    expect(bench.reports).toHaveLength(1);
  });

  it.each([
    [REPORT_AFTER_MS - 1, 1],
    [REPORT_AFTER_MS, 2],
    [REPORT_AFTER_MS + 1, 2],
  ])("are %i ms after the last one: so many have been made: %i", async (ms, reports) => {
    await bench.start();
    await commit(REPORT_COMMITS);
    bench.nowMs += ms;
    await commit(REPORT_COMMITS);
    expect(bench.reports).toHaveLength(reports);
    await bench.ring();
    expect([bench.reports.length, bench.timers]).toEqual([2, []]);
  });

  it("are made at once of a queue that somebody found idle, and of its next commit, and then no more", async () => {
    await bench.start();
    await commit(1);
    bench.snapshot = REST;
    bench.watermark.seenIdle();
    await bench.quiet();
    expect(bench.snapshots).toEqual([REST]);
    bench.watermark.seenIdle();
    await commit(1);
    expect(bench.snapshots).toEqual([REST, null]);
    await commit(REPORT_COMMITS - 2);
    expect([bench.snapshots, bench.timers]).toEqual([[REST, null], []]);
  });

  it("are made of the first commit of an epoch whose queue the directory takes for idle, once", async () => {
    bench.stored = { epoch: 1, commits: 7, messages: 7 };
    bench.reported = bench.stored;
    await bench.start(true);
    await commit(2);
    expect(bench.snapshots).toEqual([null]);
  });

  it("take back a snapshot that a commit has overtaken", async () => {
    await bench.start();
    bench.snapshot = REST;
    const { report } = bench.directory;
    let isOvertaken = false;
    bench.directory.report = (...args) => {
      if (!isOvertaken) bench.commit();
      isOvertaken = true;
      return report(...args);
    };
    bench.watermark.seenIdle();
    await bench.quiet();
    expect(bench.snapshots).toEqual([REST, null]);
  });

  it("are made again later when the directory takes none", async () => {
    await bench.start(true);
    const { report } = bench.directory;
    bench.directory.report = () => Promise.reject(new Error("no room"));
    await commit(1);
    expect(bench.timers.map(({ ms }) => ms)).toEqual([REPORT_AFTER_MS]);
    bench.directory.report = report;
    await bench.ring();
    expect([bench.snapshots, bench.timers]).toEqual([[null], []]);
  });

  it("are made again with the figures that were asked for when the directory takes none", async () => {
    await bench.start();
    bench.snapshot = REST;
    const { report } = bench.directory;
    bench.directory.report = () => Promise.reject(new Error("no room"));
    bench.watermark.seenIdle();
    await bench.quiet();
    bench.directory.report = report;
    await bench.ring();
    expect([bench.snapshots, bench.timers]).toEqual([[REST], []]);
  });

  it("are not put off while nobody knows whether the store has lost anything", async () => {
    bench.stored = { epoch: 3, commits: 7, messages: 7 };
    bench.reported = { epoch: 3, commits: 9, messages: 10 };
    await bench.startUnanswered();
    await commit(1);
    expect(bench.timers.map(({ ms }) => ms)).toEqual([REPORT_AFTER_MS]);
    await bench.ring();
    expect(bench.losses).toEqual([{ commits: 2, messages: 3 }]);
  });
});

describe("a directory that does not answer", () => {
  it.each([
    ["fails", () => Promise.reject(new Error("unreadable")), "Error: unreadable"],
    ["hangs", () => new Promise<never>(() => {}), `Error: no answer within ${CHECK_MS_MAX / 1000} s`],
  ])("a directory that %s does not keep the queue from starting", async (how, position, reason) => {
    for (const [stored, so] of [
      [{ epoch: 3, commits: 7, messages: 7 }, ", so a loss of data cannot be ruled out"],
      [NO_COMMITS, ""],
    ] as const) {
      bench = new WatermarkBench();
      bench.stored = stored;
      bench.directory.position = position;
      const checked = bench.watermark.check();
      if (how === "fails") for (const ms of CHECK_AGAIN_MS) await bench.pass(ms);
      else await bench.ring();
      const unchecked = { text: `the directory does not answer${so}`, reason };
      expect(await checked).toEqual({ epoch: stored.epoch, loss: null, unchecked });
    }
  });

  it("a directory that was reset is asked again", async () => {
    bench.stored = { epoch: 3, commits: 7, messages: 7 };
    bench.reported = { epoch: 3, commits: 9, messages: 10 };
    const { position } = bench.directory;
    let asked = 0;
    bench.directory.position = () => (asked++ < 2 ? Promise.reject(new Error("reset")) : position());
    const started = bench.start();
    await bench.pass(CHECK_AGAIN_MS[0]);
    await bench.pass(CHECK_AGAIN_MS[1]);
    expect(await started).toEqual({ epoch: 3, loss: { commits: 2, messages: 3 }, unchecked: null });
    expect(bench.lines).toEqual([]);
  });

  it("tells of a loss later, with the first report", async () => {
    bench.stored = { epoch: 3, commits: 7, messages: 7 };
    bench.reported = { epoch: 3, commits: 9, messages: 10 };
    await bench.startUnanswered();
    for (let i = 0; i < 5; i++) bench.commit();
    await bench.ring();
    expect(bench.losses).toEqual([{ commits: 2, messages: 3 }]);
    bench.commit();
    await bench.ring();
    expect(bench.losses).toHaveLength(1);
  });

  it("does not take a report of this epoch, whose answer was lost, for a loss", async () => {
    bench.stored = { epoch: 3, commits: 7, messages: 7 };
    bench.reported = bench.stored;
    await bench.startUnanswered();
    const { report } = bench.directory;
    bench.directory.report = async (...args) => {
      await report(...args);
      throw new Error("its answer was lost");
    };
    bench.commit();
    await bench.ring();
    bench.directory.report = report;
    await bench.ring();
    expect(bench.reports).toHaveLength(2);
    expect(bench.losses).toEqual([]);
  });
});
