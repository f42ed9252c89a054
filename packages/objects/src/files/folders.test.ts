import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { overwriteLeaf } from "../../test/damage.ts";
import { syncCalls } from "../../test/sync-calls.ts";
import { temporaryFolder } from "../../test/world.ts";
import { Database } from "../sqlite/database.ts";
import { makeDurableFolder, syncFolder } from "./folders.ts";
import { repairObjectFile } from "./repair-object-file.ts";

describe.runIf(process.platform !== "win32")("a folder", () => {
  it("is made with those around it, and each one's name is synced from the inside out", () => {
    const calls = syncCalls();
    const around = temporaryFolder();
    const folder = join(around, "a/b");
    makeDurableFolder(folder, 0o700);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(calls).toEqual([`sync ${join(around, "a")}`, `sync ${around}`]);
  });

  it("that is there is synced all the same: who made it may have been killed before", () => {
    const calls = syncCalls();
    const around = temporaryFolder();
    makeDurableFolder(join(around, "a"), 0o700);
    makeDurableFolder(join(around, "a"), 0o700);
    expect(calls).toEqual([`sync ${around}`, `sync ${around}`]);
  });

  it("that is not there cannot be synced, which fails for nobody", () => {
    const folder = join(temporaryFolder(), "none");
    expect(() => syncFolder(folder)).not.toThrow();
    expect(existsSync(folder)).toBe(false);
  });
});

it.runIf(process.platform !== "win32")("a repair is never between two names when the power fails", () => {
  const folder = temporaryFolder();
  const file = join(folder, "a.sqlite");
  const database = new Database(file);
  database.run("BEGIN");
  database.run("CREATE TABLE numbers (id INTEGER PRIMARY KEY, text TEXT)");
  for (let id = 0; id < 500; id++) database.run("INSERT INTO numbers VALUES (?, ?)", [id, "x".repeat(100)]);
  database.run("COMMIT");
  database.close();
  overwriteLeaf(file, "numbers");
  const calls = syncCalls();
  expect(repairObjectFile(file)).not.toBeNull();
  expect(calls).toEqual([
    "rename a.sqlite.repaired a.sqlite.whole",
    `sync ${folder}`,
    "rename a.sqlite a.sqlite.damaged-N",
    `sync ${folder}`,
    "rename a.sqlite.whole a.sqlite",
  ]);
});
