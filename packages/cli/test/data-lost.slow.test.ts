import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LOCK_FILE, OBJECTS_FOLDER } from "@sluice/local/data/data-lock";
import { PLANNED_END_FILE } from "@sluice/local/data/planned-end";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { descendants, freePorts, isRunning, type Lab, openLab } from "./lab.ts";
import { type Running, sluice } from "./running.ts";

const LOST = /sluice-lock\.sqlite was deleted or replaced while this process had the data/;
const GONE = /were deleted or moved away while this process had them, so it ends at once: there is no /;

describe("a broker whose data, or lock on them, are lost", () => {
  let lab: Lab;
  let running: Running;
  beforeEach(() => {
    lab = openLab("staged");
  });
  afterEach(async () => {
    await running.stop("SIGKILL");
    lab.remove();
  });
  const start = async (...args: string[]) => {
    const { options } = await freePorts();
    return sluice([...args, ...options, "--persist-to", "state"], lab.folder, lab.env);
  };

  it.each([
    [["serve"], "deleted"],
    [["serve", "receiver", "--env", "x"], "replaced"],
    [["dev", "receiver", "--env", "x"], "deleted"],
  ] as const)("ends at once with all that it has started: %j, when the lock is %s", async (args, how) => {
    running = await start(...args);
    await running.printed(/admin +http/);
    const children = descendants(running.pid);
    const file = join(lab.folder, "state", LOCK_FILE);
    writeFileSync(`${file}-other`, "");
    if (how === "deleted") rmSync(file);
    else renameSync(`${file}-other`, file);
    expect(await running.ended).toBe(1);
    expect(running.output).toMatch(LOST);
    expect(existsSync(join(lab.folder, "state", PLANNED_END_FILE))).toBe(false);
    await expect.poll(() => children.filter(isRunning)).toEqual([]);
  });

  it.each([[["serve"]], [["serve", "receiver", "--env", "x"]], [["dev", "receiver", "--env", "x"]]])(
    "ends at once where only the folders in that of the objects are deleted: %j",
    async (args) => {
      running = await start(...args);
      await running.printed(/admin +http/);
      const objects = join(lab.folder, "state", OBJECTS_FOLDER);
      for (const name of readdirSync(objects)) rmSync(join(objects, name), { recursive: true });
      expect(await running.ended).toBe(1);
      expect(running.output).toMatch(GONE);
      expect(existsSync(join(lab.folder, "state", PLANNED_END_FILE))).toBe(false);
    },
  );
});
