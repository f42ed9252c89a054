import { existsSync, statSync } from "node:fs";
import { join, posix, win32 } from "node:path";
import { describe, expect, it } from "vitest";
import { overwriteLeaf } from "../../test/damage.ts";
import { syncCalls } from "../../test/sync-calls.ts";
import { temporaryFolder } from "../../test/world.ts";
import { Database } from "../sqlite/database.ts";
import { databaseName, makeDurableFolder, syncFolder } from "./folders.ts";
import { repairObjectFile } from "./repair-object-file.ts";

describe("a database", () => {
  /** @param length characters of the whole name. */
  const named = (root: string, length: number) => root + "x".repeat(length - root.length);

  it.each([250, 251])("whose name has %i characters is called by it on Windows", (length) => {
    const file = named("C:\\data\\", length);
    expect(databaseName(file, win32)).toBe(file);
  });

  it("with a longer name is called by that of the namespace, which a journal fits behind", () => {
    const file = named("C:\\data\\", 252);
    expect(databaseName(file, win32)).toBe(`\\\\?\\${file}`);
    const shared = named("\\\\server\\share\\", 300);
    expect(databaseName(shared, win32)).toBe(`\\\\?\\UNC\\${shared.slice(2)}`);
  });

  it("with a long name is called by it on other systems", () => {
    const file = named("/data/", 300);
    expect(databaseName(file, posix)).toBe(file);
  });
});

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
