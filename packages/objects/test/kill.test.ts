import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import { idOfName } from "../src/files/object-id.ts";
import { read, temporaryFolder } from "./world.ts";

/** Kills, one after the other on the same files, and after how many answers. */
const KILLED_AFTER = [1, 7, 40, 150, 333];

const INDEX = "SELECT actor_id AS id, scheduled_time / 1000000 AS at FROM _cf_ALARM";
const OWN = "SELECT value / 1000000 AS at FROM _cf_METADATA WHERE key = 1 AND value IS NOT NULL";

it("a killed process has lost nothing answered, no half of what was written together, and no alarm", async () => {
  const folder = temporaryFolder();
  const answered: number[] = [];
  for (const answers of KILLED_AFTER) {
    const first = (answered.length === 0 ? 0 : Math.max(...answered)) + 100;
    const child = spawn(process.execPath, [join(import.meta.dirname, "numbers.ts"), folder, String(first)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let left = answers;
    createInterface({ input: child.stdout }).on("line", (line) => {
      answered.push(Number(line));
      left -= 1;
      if (left === 0) child.kill("SIGKILL");
    });
    await once(child, "close");
    expect(left).toBeLessThanOrEqual(0);
    const there = new Map<number, number>();
    const index = new Map(
      read(join(folder, "numbers", "metadata.sqlite"), INDEX).map(({ id, at }) => [id, Number(at)]),
    );
    for (const object of [0, 1, 2]) {
      const id = idOfName("numbers", `object ${object}`);
      const file = join(folder, "numbers", `${id}.sqlite`);
      if (!existsSync(file)) continue;
      expect(read(file, "PRAGMA integrity_check")).toEqual([{ integrity_check: "ok" }]);
      const tables = read(file, "SELECT name FROM sqlite_schema").map(({ name }) => name);
      if (!tables.includes("numbers")) continue;
      for (const { n, twin } of read(file, "SELECT n, twin FROM numbers")) there.set(Number(n), Number(twin));
      const [own] = tables.includes("_cf_METADATA") ? read(file, OWN) : [];
      if (own !== undefined) expect(index.get(id)).toBeLessThanOrEqual(Number(own.at));
    }
    for (const n of answered) expect([there.get(2 * n), there.get(2 * n + 1)]).toEqual([2 * n + 1, 2 * n]);
    for (const [n, twin] of there) expect(there.get(twin)).toBe(n);
  }
});
