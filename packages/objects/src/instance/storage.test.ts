import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { overwriteLeaf } from "../../test/damage.ts";
import { id as idOf, openWorld, temporaryFolder, type World } from "../../test/world.ts";
import type { InstanceStorage } from "./instance.ts";
import { TURN_MS_MAX } from "./storage.ts";

const CREATE = "CREATE TABLE IF NOT EXISTS t (v)";
const ALL = "SELECT v FROM t ORDER BY rowid";

function insert({ sql }: InstanceStorage, value: unknown): void {
  sql.exec("INSERT INTO t VALUES (?)", value as number);
}

const rows = ({ sql }: InstanceStorage) =>
  sql
    .exec(ALL)
    .toArray()
    .map(({ v }) => v);

/** A world with an object that has its table. */
async function withTable(name = "a", world = openWorld()): Promise<World> {
  await world.run(name, ({ storage }) => void storage.sql.exec(CREATE));
  return world;
}

/** As SQLITE_FULL: the file has no room for another page. */
function leaveNoRoom({ sql }: InstanceStorage): void {
  const [pages] = sql.exec("PRAGMA page_count").toArray();
  sql.exec(`PRAGMA max_page_count = ${pages?.page_count}`).toArray();
}

describe("what an object writes in a turn of the event loop", () => {
  it("is seen by nobody else before it is committed, and all of it when the call is answered", async () => {
    const { run, committed } = await withTable();
    const within = await run("a", ({ storage }) => {
      insert(storage, 1);
      insert(storage, 2);
      return [committed("a", ALL), rows(storage)];
    });
    expect(within).toEqual([[], [1, 2]]);
    expect(committed("a", ALL)).toEqual([{ v: 1 }, { v: 2 }]);
  });

  it("is one commit, though promises are awaited in it, and whatever the turn began with", async () => {
    const { run, committed } = await withTable();
    const writing = () =>
      run("a", async ({ storage }) => {
        const seen: number[] = [];
        for (let i = 0; i < 5; i++) {
          insert(storage, i);
          await null;
          seen.push(committed("a", ALL).length);
        }
        return seen;
      });
    expect(await writing()).toEqual([0, 0, 0, 0, 0]);
    const inTimer = new Promise((resolve) => setTimeout(() => resolve(writing()), 1));
    expect(await inTimer).toEqual([5, 5, 5, 5, 5]);
  });

  it("lets timers and sockets have their turn though an object writes on as soon as it is durable", async () => {
    const { run } = await withTable();
    let isOver = false;
    const timer = new Promise<void>((resolve) => {
      setTimeout(() => {
        isOver = true;
        resolve();
      }, 2 * TURN_MS_MAX);
    });
    const writes = await run("a", async ({ storage }) => {
      let count = 0;
      // Without a turn for the timer it would be none of them that ends this.
      for (; !isOver && count < 5_000; count++) {
        storage.sql.exec("INSERT INTO t VALUES (1)");
        await storage.sync();
      }
      return count;
    });
    expect(isOver).toBe(true);
    expect(writes).toBeGreaterThan(0);
    await timer;
  });

  it("is committed though the method throws behind it, and the error is told after that", async () => {
    const { run, committed } = await withTable();
    let seen: unknown;
    await run("a", ({ storage }) => {
      insert(storage, 1);
      throw new RangeError("no");
    }).catch((error) => {
      seen = [String(error), committed("a", ALL)];
    });
    expect(seen).toEqual(["RangeError: no", [{ v: 1 }]]);
  });

  it("is durable when sync() resolves, which it does at once where nothing is written", async () => {
    const { run, committed } = await withTable();
    await run("a", async ({ storage }) => {
      insert(storage, 1);
      await Promise.all([storage.sync(), storage.sync()]);
      expect(committed("a", ALL)).toEqual([{ v: 1 }]);
      await storage.sync();
    });
  });

  it("is a statement with rows to give as well", async () => {
    const { run, committed } = await withTable();
    const returned = await run("a", ({ storage }) => [
      storage.sql.exec("INSERT INTO t VALUES (1), (2) RETURNING v").toArray(),
      committed("a", ALL),
    ]);
    expect(returned).toEqual([[{ v: 1 }, { v: 2 }], []]);
    expect(committed("a", ALL)).toEqual([{ v: 1 }, { v: 2 }]);
  });
});

describe("transactionSync", () => {
  it("takes back an alarm that was set or deleted in one that throws", async () => {
    const { run, index } = openWorld();
    const at = Date.now() + 100_000;
    const failing = (storage: InstanceStorage, change: () => unknown) =>
      expect(() =>
        storage.transactionSync(() => {
          change();
          throw new Error("no");
        }),
      ).toThrow("no");
    const alarms = await run("a", async ({ storage }) => {
      failing(storage, () => storage.setAlarm(at));
      const first = await storage.getAlarm();
      await storage.setAlarm(at);
      failing(storage, () => storage.deleteAlarm());
      failing(storage, () => storage.setAlarm(at + 5));
      return [first, await storage.getAlarm()];
    });
    expect(alarms).toEqual([null, at]);
    expect(index()).toEqual({ [idOf("a")]: at });
  });

  it("ends with the instance if that ends in it", async () => {
    const { run, committed } = await withTable();
    const ended = run("a", (ctx) => {
      ctx.storage.transactionSync(() => {
        insert(ctx.storage, 1);
        ctx.abort("enough");
      });
    });
    await expect(ended).rejects.toThrow("enough");
    await run("a", ({ storage }) => insert(storage, 2));
    expect(committed("a", ALL)).toEqual([{ v: 2 }]);
  });
});

describe("storage without room", () => {
  it("says so in the statement and to all that wait, whoever heeds it, and keeps nothing of the turn", async () => {
    const { run, committed, instances } = await withTable();
    let thrown: unknown;
    const writing = run("a", ({ storage }) => {
      leaveNoRoom(storage);
      insert(storage, 1);
      try {
        // SQLite ends the whole transaction by itself.
        insert(storage, "x".repeat(10_000));
      } catch (error) {
        thrown = error;
      }
      return "goes on";
    });
    const full = /^database or disk is full: SQLITE_FULL$/;
    await expect(writing).rejects.toThrow(full);
    expect((thrown as Error).message).toMatch(full);
    expect(committed("a", ALL)).toEqual([]);
    await run("a", ({ storage }) => insert(storage, 2));
    expect(instances()).toBe(2);
  });

  it("says so in a transaction, and keeps nothing of the turn before it", async () => {
    const { run, committed } = await withTable();
    const writing = run("a", ({ storage }) => {
      leaveNoRoom(storage);
      insert(storage, 1);
      storage.transactionSync(() => insert(storage, "x".repeat(10_000)));
    });
    await expect(writing).rejects.toThrow(/SQLITE_FULL$/);
    expect(committed("a", ALL)).toEqual([]);
  });

  it("fails every call that waits for an impossible commit; the next instance has what was committed", async () => {
    const { run, committed, instances } = await withTable();
    await run("a", ({ storage }) => insert(storage, 1));
    let synced: unknown;
    const writing = run("a", async ({ storage }) => {
      insert(storage, 2);
      // SQLite ends a transaction by itself on some failures; what is to be committed then is not there any more.
      storage.sql.exec("ROLLBACK");
      await storage.sync().catch((error) => {
        synced = error;
      });
    });
    const reading = run("a", ({ storage }) => rows(storage));
    const failure = /no transaction is active: SQLITE_ERROR$/;
    await expect(writing).rejects.toThrow(failure);
    await expect(reading).rejects.toThrow(failure);
    expect(String(synced)).toMatch(failure);
    expect(await run("a", ({ storage }) => rows(storage))).toEqual([1]);
    expect(instances()).toBe(2);
    expect(committed("a", ALL)).toEqual([{ v: 1 }]);
  });

  it("ends the instance rather than forget an alarm that nobody awaits", async () => {
    const { run, instances } = await withTable();
    await run("a", ({ storage }) => leaveNoRoom(storage));
    const failed = run("a", async ({ storage }) => {
      void storage.setAlarm(Date.now() + 1_000);
      return "set";
    });
    await expect(failed).rejects.toThrow(/SQLITE_FULL$/);
    expect(await run("a", ({ storage }) => storage.getAlarm())).toBeNull();
    expect(instances()).toBe(2);
  });

  it("refuses what is no moment to ring at, and lives on", async () => {
    const { run, instances } = openWorld();
    await run("a", async ({ storage }) => {
      for (const at of [Number.NaN, Number.POSITIVE_INFINITY, 1e16]) {
        await expect(storage.setAlarm(at)).rejects.toThrow(TypeError);
      }
      expect(await storage.getAlarm()).toBeNull();
    });
    expect(instances()).toBe(1);
  });
});

describe("a file that is no database, or a damaged one", () => {
  it("fails each call in SQLite's words, and none of other objects", async () => {
    const folder = temporaryFolder();
    const before = await withTable("a", openWorld({ folder }));
    before.objects.close();
    writeFileSync(before.fileOf("a"), "x".repeat(8_192));
    const { run } = openWorld({ folder });
    for (let i = 0; i < 2; i++) {
      await expect(run("a", () => 1)).rejects.toThrow(
        `${before.fileOf("a")}: file is not a database: SQLITE_NOTADB`,
      );
    }
    expect(await run("b", () => 1)).toBe(1);
  });

  it("says what is damaged when that is met, in SQLite's words", async () => {
    const folder = temporaryFolder();
    const before = await withTable("a", openWorld({ folder }));
    await before.run("a", ({ storage }) => {
      for (let i = 0; i < 100; i++) insert(storage, "x".repeat(1_000));
    });
    before.objects.close();
    overwriteLeaf(before.fileOf("a"), "t");
    const { run } = openWorld({ folder });
    await expect(run("a", ({ storage }) => rows(storage))).rejects.toThrow(
      /database disk image is malformed: SQLITE_CORRUPT$/,
    );
  });
});
