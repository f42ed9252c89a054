import { STORE_CONFORMANCE } from "@sluice/broker/testing/store-conformance";
import { describe, expect, it } from "vitest";
import { Disk, DiskFullError, type Version } from "./disk.ts";

function diskOf(event = () => 1) {
  const commits: Version[] = [];
  const disk = new Disk({ event, committed: (version) => commits.push(version), unsynced: () => {} });
  return { disk, commits };
}

describe("a simulated disk is a QueueStore", () => {
  it.each(STORE_CONFORMANCE)("$name", async ({ run }) => {
    let { disk } = diskOf();
    await run({
      open: () => {
        disk.sync(disk.committedVersion);
        const store = disk.end();
        disk = store;
        // What the scheduler of a history does: it lets everything become durable in the end.
        store.synced = async () => {
          store.sync(store.committedVersion);
        };
        return store;
      },
    });
  });
});

describe("a simulated disk is a disk", () => {
  it("keeps as many of the last commits as it is told, each as a whole", () => {
    for (let kept = 0; kept <= 3; kept++) {
      const { disk } = diskOf();
      for (let i = 1; i <= 3; i++) {
        disk.commit(() => {
          disk.writeInbox("a", i);
          disk.writeInbox("b", i);
        });
      }
      disk.sync(kept);
      const next = disk.end();
      expect([next.readInbox("a"), next.readInbox("b")]).toEqual([kept, kept]);
      expect(next.committedVersion).toBe(kept);
    }
  });

  it("calls back when everything is durable that was written before the call, and not earlier", () => {
    const { disk } = diskOf();
    const calls: string[] = [];
    disk.whenDurable(() => calls.push("nothing was written"));
    disk.commit(() => disk.writeInbox("a", 1));
    disk.commit(() => disk.writeInbox("a", 2));
    disk.whenDurable(() => calls.push("two commits"));
    disk.sync(1);
    disk.releaseWaiters();
    expect(calls).toEqual(["nothing was written"]);
    disk.sync(2);
    disk.releaseWaiters();
    expect(calls).toEqual(["nothing was written", "two commits"]);
  });

  it("joins an alarm with the commit that was written in the same event", () => {
    let event = 1;
    const { disk } = diskOf(() => event);
    disk.commit(() => disk.writeInbox("a", 1));
    disk.writeAlarm(500);
    expect(disk.committedVersion).toBe(1);
    event = 2;
    disk.writeAlarm(400);
    expect(disk.committedVersion).toBe(2);
    disk.sync(1);
    expect([disk.durableAlarmAtMs, disk.alarmAtMs]).toEqual([500, 400]);
    expect(disk.end().alarmAtMs).toBe(500);
  });

  it("fails the writes that it is told to, takes the commit back, and stays full after a restart", () => {
    const { disk } = diskOf();
    disk.failWrites(1, 2);
    expect(() =>
      disk.commit(() => {
        disk.writeInbox("a", 1);
        disk.writeInbox("b", 1);
      }),
    ).toThrow(DiskFullError);
    expect([disk.readInbox("a"), disk.committedVersion]).toEqual([0, 0]);
    const next = disk.end();
    expect(() => next.commit(() => next.writeInbox("a", 1))).toThrow(DiskFullError);
    next.commit(() => next.writeInbox("a", 1));
    expect(next.readInbox("a")).toBe(1);
  });

  it("lets nobody reach it after its end", () => {
    const { disk } = diskOf();
    disk.end();
    expect(() => disk.readEpoch()).toThrow("has ended");
    expect(() => disk.commit(() => {})).toThrow("has ended");
    disk.writeAlarm(1);
    expect(disk.alarmAtMs).toBeNull();
  });

  it("refuses writes outside a commit", () => {
    const { disk } = diskOf();
    expect(() => disk.writeInbox("a", 1)).toThrow("outside a commit");
  });
});
