import { closeSync, openSync, readdirSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
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
import { read, temporaryFolder, UNIQUE_KEY, write } from "../../test/world.ts";

useClock();

describe("the index of all alarms", () => {
  const damages: Record<string, (file: string) => void> = {
    "is lost": (file) => rmSync(file),
    "is no database": (file) => writeFileSync(file, "x".repeat(8_192)),
    "does not hold together": (file) => {
      const handle = openSync(file, "r+");
      writeSync(handle, Buffer.alloc(4_096, 0x55), 0, 4_096, 4_096);
      closeSync(handle);
    },
  };

  it.each(Object.entries(damages))(
    "that %s is made from what the objects' own files say",
    async (how, damage) => {
      const folder = temporaryFolder();
      const before = hearing({ folder });
      await setAlarm(before, "past", 0);
      await pass(1);
      for (const name of ["soon", "late"]) await setAlarm(before, name, name === "soon" ? 1_000 : 5_000);
      before.objects.close();
      damage(metadata(folder));
      writeFileSync(join(folder, UNIQUE_KEY, `${"0".repeat(64)}.sqlite`), "x".repeat(8_192));
      const world = hearing({ folder });
      expect([inIndex(world, "past"), inIndex(world, "soon"), inIndex(world, "late")]).toEqual([
        null,
        1_000,
        5_000,
      ]);
      await pass(5_000);
      expect(world.rings).toEqual([1_000, 5_000]);
      const said = world.errors.join("\n");
      expect(said).toContain("whether it has an alarm cannot be read: Error: ");
      expect(said.includes("the index of alarms is damaged")).toBe(how !== "is lost");
      const aside = readdirSync(join(folder, UNIQUE_KEY)).filter((name) => name.includes(".damaged-"));
      expect(aside).toHaveLength(how === "is lost" ? 0 : 1);
    },
  );

  it("may be one of an older workerd, which writes no names", async () => {
    const folder = temporaryFolder();
    const before = hearing({ folder });
    await setAlarm(before, "a", 1_000);
    before.objects.close();
    write(
      metadata(folder),
      `CREATE TABLE older (actor_id TEXT PRIMARY KEY, scheduled_time INTEGER) WITHOUT ROWID;
       INSERT INTO older SELECT actor_id, scheduled_time FROM _cf_ALARM;
       DROP TABLE _cf_ALARM;
       ALTER TABLE older RENAME TO _cf_ALARM`,
    );
    const world = hearing({ folder });
    await setAlarm(world, "b", 2_000);
    await pass(2_000);
    expect(world.rings).toEqual([1_000, 2_000]);
    expect(world.errors).toEqual([]);
    // That workerd goes on with it.
    const columns = read(metadata(folder), "SELECT name FROM pragma_table_info('_cf_ALARM')");
    expect(columns.map(({ name }) => name)).toEqual(["actor_id", "scheduled_time"]);
  });

  it("never says later than what an object has committed, whatever fails between the two commits", async () => {
    const folder = temporaryFolder();
    const world = hearing({ folder });
    await setAlarm(world, "a", 5_000);
    // An alarm that is not committed leaves the index as early as it was, or earlier.
    await world
      .run("a", async (ctx) => {
        await ctx.storage.setAlarm(START_MS + 9_000);
        ctx.abort("no");
      })
      .catch(() => undefined);
    expect([inIndex(world, "a"), await getAlarm(world, "a")]).toEqual([5_000, 5_000]);
    const failed = world.run("a", async ({ storage }) => {
      await storage.setAlarm(START_MS + 1_000);
      storage.sql.exec("ROLLBACK");
    });
    await expect(failed).rejects.toThrow("no transaction is active");
    expect(inIndex(world, "a")).toBe(1_000);
    expect(await getAlarm(world, "a")).toBe(5_000);
    await pass(10_000);
    expect(world.rings).toEqual([5_000]);
  });

  it("keeps an object from committing an alarm that it cannot take, and says what it cannot forget", async () => {
    const world = hearing();
    await setAlarm(world, "a", 5_000);
    write(
      metadata(world.folder),
      "CREATE TRIGGER full BEFORE INSERT ON _cf_ALARM BEGIN SELECT RAISE(ABORT, 'no room'); END",
      "CREATE TRIGGER kept BEFORE DELETE ON _cf_ALARM BEGIN SELECT RAISE(ABORT, 'no room'); END",
    );
    await expect(setAlarm(world, "a", 1_000)).rejects.toThrow("no room");
    expect(await getAlarm(world, "a")).toBe(5_000);
    await world.run("a", ({ storage }) => storage.deleteAlarm());
    expect(world.errors).toEqual([expect.stringContaining("a: its alarm could not be written to the index")]);
    expect(await getAlarm(world, "a")).toBeNull();
    await pass(10_000);
    expect(world.rings).toEqual([]);
  });
});
