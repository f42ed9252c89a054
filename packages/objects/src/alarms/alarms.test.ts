import { existsSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import {
  getAlarm,
  hearing,
  inIndex,
  metadata,
  pass,
  START_MS,
  setAlarm,
  useClock,
} from "../../test/alarms.ts";
import { id, temporaryFolder, write } from "../../test/world.ts";
import type { ObjectState } from "../instance/instance.ts";
import { LOOK_AGAIN_MS } from "./alarm-index.ts";

useClock();

describe("an alarm", () => {
  it("rings once at its time, and there is none then", async () => {
    const world = hearing();
    await setAlarm(world, "a", 1_000);
    expect(await getAlarm(world, "a")).toBe(1_000);
    await pass(999);
    expect(world.rings).toEqual([]);
    await pass(1);
    expect(world.rings).toEqual([1_000]);
    expect(await getAlarm(world, "a")).toBeNull();
    expect(inIndex(world, "a")).toBeNull();
    await pass(100_000);
    expect(world.rings).toEqual([1_000]);
  });

  it("rings at the time that was set last, be it earlier or later, and at once for one that is past", async () => {
    const world = hearing();
    await setAlarm(world, "earlier", 5_000);
    await setAlarm(world, "earlier", 1_000);
    await setAlarm(world, "later", 2_000);
    await setAlarm(world, "later", 3_000);
    expect([inIndex(world, "earlier"), inIndex(world, "later")]).toEqual([1_000, 3_000]);
    await pass(10_000);
    expect(world.rings).toEqual([1_000, 3_000]);
    await setAlarm(world, "past", -5_000);
    expect(await getAlarm(world, "past")).toBe(10_000);
    await pass(1);
    expect(world.rings).toEqual([1_000, 3_000, 10_000]);
  });

  it("does not ring once it is deleted", async () => {
    const world = hearing();
    await setAlarm(world, "a", 1_000);
    await world.run("a", ({ storage }) => storage.deleteAlarm());
    expect([await getAlarm(world, "a"), inIndex(world, "a")]).toEqual([null, null]);
    await pass(10_000);
    expect(world.rings).toEqual([]);
  });

  it("rings when it is due though that is longer than a timer of Node.js can wait", async () => {
    const world = hearing();
    const inMs = 2 ** 31 + 5;
    await setAlarm(world, "a", inMs);
    vi.setSystemTime(START_MS + inMs - 2 * LOOK_AGAIN_MS);
    await pass(2 * LOOK_AGAIN_MS - 1);
    expect(world.rings).toEqual([]);
    await pass(LOOK_AGAIN_MS);
    expect(world.rings).toHaveLength(1);
  });

  it("does not start its object before", async () => {
    const folder = temporaryFolder();
    const before = hearing({ folder });
    await setAlarm(before, "a", 3_600_000);
    before.objects.close();
    const world = hearing({ folder });
    await pass(2 * LOOK_AGAIN_MS);
    expect(world.instances()).toBe(0);
  });

  it("rings soon after the clock has jumped past it, as that of a computer that slept", async () => {
    const world = hearing();
    await setAlarm(world, "a", 3_600_000);
    vi.setSystemTime(START_MS + 3_600_000);
    await pass(LOOK_AGAIN_MS);
    expect(world.rings).toHaveLength(1);
  });

  it("goes by the clock that it is given, wherever the system's is set to", async () => {
    let setMs = 0;
    const world = hearing({ now: () => Date.now() - setMs });
    await setAlarm(world, "a", 3_600_000);
    setMs = 5 * 86_400_000;
    vi.setSystemTime(START_MS + setMs);
    await pass(3_600_000 - LOOK_AGAIN_MS);
    expect(world.rings).toEqual([]);
    setMs -= 6 * 86_400_000;
    vi.setSystemTime(Date.now() - 6 * 86_400_000);
    await pass(2 * LOOK_AGAIN_MS);
    expect(world.rings).toHaveLength(1);
    await world.run("a", ({ storage }) => storage.setAlarm(Date.now() - setMs + 500));
    await pass(500);
    expect(world.rings).toHaveLength(2);
  });

  it("is seen by its handler as none, and what the handler sets rings again", async () => {
    const seen: unknown[] = [];
    const world = hearing({
      alarm: async ({ storage }) => {
        seen.push(await storage.getAlarm());
        if (seen.length > 2) return;
        // Once at the very time that rings, and once later.
        await storage.setAlarm(Date.now() + (seen.length - 1) * 500);
        seen[seen.length - 1] = [seen.at(-1), await storage.getAlarm()];
      },
    });
    await setAlarm(world, "a", 1_000);
    await pass(10_000);
    // No timer is quicker than a millisecond.
    expect(world.rings).toEqual([1_000, 1_001, 1_501]);
    expect(seen).toEqual([[null, START_MS + 1_000], [null, START_MS + 1_501], null]);
    expect(inIndex(world, "a")).toBeNull();
  });

  it("that is set while its handler runs rings when that has ended", async () => {
    let end = () => {};
    const world = hearing({
      alarm: () =>
        new Promise<void>((resolve) => {
          end = resolve;
        }),
    });
    await setAlarm(world, "a", 1_000);
    await pass(1_000);
    await setAlarm(world, "a", 1_200);
    await pass(5_000);
    expect(world.rings).toEqual([1_000]);
    end();
    await pass(1);
    expect(world.rings).toEqual([1_000, 6_000]);
    end();
    await pass(10_000);
    expect(world.rings).toHaveLength(2);
  });

  it("that its handler deletes stays deleted, and writes of a running handler ring nothing", async () => {
    const world = hearing({
      alarm: async ({ storage }) => {
        for (let i = 0; i < 5; i++) {
          storage.sql.exec("CREATE TABLE IF NOT EXISTS t (v)");
          storage.sql.exec("INSERT INTO t VALUES (1)");
          await storage.sync();
        }
        await storage.deleteAlarm();
      },
    });
    await setAlarm(world, "a", 1_000);
    await pass(10_000);
    expect(world.rings).toEqual([1_000]);
    expect(await getAlarm(world, "a")).toBeNull();
  });
});

describe("an alarm that is not heard", () => {
  const failing = (times: number, how: (ctx: ObjectState) => unknown) => {
    let left = times;
    return hearing({
      alarm: (ctx) => {
        left -= 1;
        if (left >= 0) return how(ctx);
        return undefined;
      },
    });
  };

  it("rings again, twice as late each time and at most a minute, however often; and it is said", async () => {
    const world = failing(7, ({ storage }) => {
      // A commit in it does not bring it back any earlier.
      storage.sql.exec("CREATE TABLE IF NOT EXISTS t (v)");
      storage.sql.exec("INSERT INTO t VALUES (1)");
      throw new Error("not now");
    });
    await setAlarm(world, "a", 1_000);
    await pass(1_000);
    expect(await getAlarm(world, "a")).toBe(1_000);
    for (let seconds = 0; seconds < 200; seconds++) {
      await pass(1_000);
      // A ring ends in real turns of the event loop: an answer comes behind it.
      await getAlarm(world, "a");
    }
    const waits = world.rings.map((at, i) => at - (world.rings[i - 1] ?? 0));
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
    expect(world.errors).toHaveLength(7);
    expect(world.errors[0]).toBe("a: its alarm could not be heard, and rings again in 2 s: Error: not now");
    expect(await getAlarm(world, "a")).toBeNull();
  });

  it("waits as little as at first once it was heard", async () => {
    let rings = 0;
    const world = hearing({
      alarm: () => {
        rings += 1;
        if (rings !== 3) throw new Error("not now");
      },
    });
    await setAlarm(world, "a", 0);
    await pass(10_000);
    await setAlarm(world, "a", 10_000);
    await pass(3_000);
    const [first = 0, second = 0] = world.rings.slice(3);
    expect(second - first).toBe(2_000);
  });

  it("rings again in another instance when the one that heard it was ended", async () => {
    const world = failing(1, (ctx) => {
      ctx.abort("no room");
      return new Promise(() => {});
    });
    await setAlarm(world, "a", 1_000);
    await pass(2_999);
    expect(world.rings).toEqual([1_000]);
    await pass(1);
    expect(world.rings).toEqual([1_000, 3_000]);
    expect(world.instances()).toBe(2);
    expect(world.errors).toEqual([expect.stringContaining("Error: no room")]);
  });

  it("rings when its handler has set it anew, though it threw", async () => {
    const world = failing(1, async ({ storage }) => {
      await storage.setAlarm(Date.now() + 5_000);
      throw new Error("not now");
    });
    await setAlarm(world, "a", 1_000);
    await pass(20_000);
    expect(world.rings).toEqual([1_000, 6_000]);
  });
});

describe("alarms over a restart", () => {
  it("ring: those that were missed at once, the others at their time, in objects that nobody called", async () => {
    const folder = temporaryFolder();
    const before = hearing({ folder });
    await setAlarm(before, "missed", 1_000);
    await setAlarm(before, "coming", 5_000);
    before.objects.close();
    await pass(2_000);
    expect(before.rings).toEqual([]);
    const world = hearing({ folder });
    await pass(1);
    expect(world.rings).toEqual([2_000]);
    await pass(10_000);
    expect(world.rings).toEqual([2_000, 5_000]);
  });

  it("ring again if the handler had not ended", async () => {
    const folder = temporaryFolder();
    const before = hearing({ folder, alarm: () => new Promise(() => {}) });
    await setAlarm(before, "a", 1_000);
    await pass(1_000);
    before.objects.close();
    const world = hearing({ folder });
    await pass(1);
    expect([before.rings, world.rings]).toEqual([[1_000], [1_000]]);
  });

  it("ring once their object is called if the index has lost them, and not by an index that is wrong", async () => {
    const folder = temporaryFolder();
    const before = hearing({ folder });
    await setAlarm(before, "lost", 1_000);
    await setAlarm(before, "late", 2_000);
    await setAlarm(before, "stale", 9_000);
    await before.run("none", ({ storage }) => void storage.sql.exec("CREATE TABLE t (v)"));
    before.objects.close();
    const at = (ms: number) => `${START_MS + ms}000000`;
    write(
      metadata(folder),
      `DELETE FROM _cf_ALARM WHERE actor_id = '${id("lost")}'`,
      `UPDATE _cf_ALARM SET scheduled_time = ${at(8_000)} WHERE actor_id = '${id("late")}'`,
      `UPDATE _cf_ALARM SET scheduled_time = ${at(3_000)} WHERE actor_id = '${id("stale")}'`,
      `INSERT INTO _cf_ALARM VALUES ('${id("none")}', ${at(3_000)}, 'none')`,
      `INSERT INTO _cf_ALARM VALUES ('${id("nowhere")}', ${at(3_000)}, 'nowhere')`,
    );
    const world = hearing({ folder });
    await world.run("lost", () => 1);
    await world.run("late", () => 1);
    expect([inIndex(world, "lost"), inIndex(world, "late")]).toEqual([1_000, 2_000]);
    await pass(3_000);
    expect(world.rings).toEqual([1_000, 2_000]);
    expect([inIndex(world, "stale"), inIndex(world, "none"), inIndex(world, "nowhere")]).toEqual([
      9_000,
      null,
      null,
    ]);
    expect(existsSync(world.fileOf("nowhere"))).toBe(false);
    await pass(6_000);
    expect(world.rings).toEqual([1_000, 2_000, 9_000]);
    expect(world.errors).toEqual([]);
  });

  it("ring in an object whose name is not written down, which is then called by its name", async () => {
    const folder = temporaryFolder();
    const before = hearing({ folder });
    await setAlarm(before, "a", 1_000);
    before.objects.close();
    write(metadata(folder), "UPDATE _cf_ALARM SET actor_name = NULL");
    const names: unknown[] = [];
    const world = hearing({ folder, construct: ({ id }) => void names.push(id.name, id.toString()) });
    await pass(1_000);
    expect(names).toEqual([undefined, id("a")]);
    await world.run("a", () => 1);
    expect(world.instances()).toBe(1);
  });
});
