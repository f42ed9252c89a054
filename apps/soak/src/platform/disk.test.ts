import { STORE_CONFORMANCE } from "@sluice/broker/testing/store-conformance";
import { describe, expect, it } from "vitest";
import { Disk, DiskFullError, SimulatedStorage } from "./disk.ts";
import { RecordedStore, type Written } from "./recorded-store.ts";

/** A store on a disk, as an epoch opens it; what it has committed. */
function storeOn(disk: Disk) {
  const storage = new SimulatedStorage(disk, { now: () => 0, alarmChanged: () => {}, mayFail: false });
  const commits: Written[] = [];
  const store = new RecordedStore(storage as never, [], disk, {
    committed: (written) => commits.push(written),
    dropped: () => {},
  });
  return { storage, store, commits };
}

/** A disk with nothing to make durable but the schema, which is. */
function emptyDisk(event = () => 1) {
  const disk = new Disk({ event, unsynced: () => {} });
  storeOn(disk);
  disk.sync(disk.committedVersion);
  return disk;
}

it.each(STORE_CONFORMANCE)("a store on a simulated disk is a QueueStore $name", async ({ run }) => {
  const disk: Disk = new Disk({
    event: () => 1,
    // What the scheduler of a history does: it lets everything become durable in the end.
    unsynced: () =>
      queueMicrotask(() => {
        disk.sync(disk.committedVersion);
        disk.releaseWaiters();
      }),
  });
  await run({ open: () => storeOn(disk).store });
});

describe("a simulated disk is a disk", () => {
  it("keeps as many of the last commits as it is told, each as a whole", () => {
    for (let kept = 0; kept <= 3; kept++) {
      const disk = emptyDisk();
      const first = disk.committedVersion;
      const { store } = storeOn(disk);
      for (let i = 1; i <= 3; i++) {
        store.commit(() => {
          store.writeInbox("a", i);
          store.writeInbox("b", i);
        });
      }
      disk.sync(first + kept);
      disk.crash();
      const next = storeOn(disk).store;
      expect([next.readInbox("a"), next.readInbox("b")]).toEqual([kept, kept]);
      expect(disk.committedVersion).toBe(first + kept);
    }
  });

  it("calls back when everything is durable that was written before the call, and not earlier", () => {
    const disk = emptyDisk();
    const { store } = storeOn(disk);
    const calls: string[] = [];
    disk.whenDurable(() => calls.push("nothing was written"));
    store.commit(() => store.writeInbox("a", 1));
    store.commit(() => store.writeInbox("a", 2));
    disk.whenDurable(() => calls.push("two commits"));
    disk.sync(disk.committedVersion - 1);
    disk.releaseWaiters();
    expect(calls).toEqual(["nothing was written"]);
    disk.sync(disk.committedVersion);
    disk.releaseWaiters();
    expect(calls).toEqual(["nothing was written", "two commits"]);
  });

  it("joins an alarm with the commit that was written in the same event", () => {
    let event = 1;
    const disk = emptyDisk(() => event);
    const { store, storage } = storeOn(disk);
    store.commit(() => store.writeInbox("a", 1));
    const version = disk.committedVersion;
    void storage.setAlarm(500);
    expect(disk.committedVersion).toBe(version);
    event = 2;
    void storage.setAlarm(400);
    expect(disk.committedVersion).toBe(version + 1);
    disk.sync(version);
    expect(disk.alarmAtMs).toBe(400);
    disk.crash();
    expect(disk.alarmAtMs).toBe(500);
  });

  it("fails the writes that it is told to, takes the commit back, and stays full after a restart", () => {
    const disk = emptyDisk();
    const version = disk.committedVersion;
    const { store, commits } = storeOn(disk);
    disk.failWrites(1, 2);
    expect(() =>
      store.commit(() => {
        store.writeInbox("a", 1);
        store.writeInbox("b", 1);
      }),
    ).toThrow(DiskFullError);
    expect([store.readInbox("a"), disk.committedVersion, commits.length]).toEqual([0, version, 0]);
    disk.crash();
    const next = storeOn(disk).store;
    expect(() => next.commit(() => next.writeInbox("a", 1))).toThrow(DiskFullError);
    next.commit(() => next.writeInbox("a", 1));
    expect(next.readInbox("a")).toBe(1);
  });

  it("lets nobody reach it after its end", () => {
    const disk = emptyDisk();
    const { store, storage } = storeOn(disk);
    storage.end();
    expect(() => store.readEpoch()).toThrow("has ended");
    expect(() => store.commit(() => store.writeInbox("a", 1))).toThrow("has ended");
    void storage.setAlarm(1);
    expect(disk.alarmAtMs).toBeNull();
  });
});
