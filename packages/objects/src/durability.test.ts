import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it, onTestFinished, vi } from "vitest";
import { openWorld, temporaryFolder } from "../test/world.ts";
import { objectFile, openObjects, repairObjectFile, shrinkObjectFiles, withObjectFile } from "./index.ts";

/** Value of SQLite's `synchronous` where a commit is synced before it is made. */
const FULL = 2;

/** Records the settings of every database that is closed from now on: by its file's name. */
function settingsAtClose(): {
  readonly file: string;
  readonly journal: unknown;
  readonly synchronous: unknown;
}[] {
  const seen: { file: string; journal: unknown; synchronous: unknown }[] = [];
  const { close } = DatabaseSync.prototype;
  const spy = vi.spyOn(DatabaseSync.prototype, "close").mockImplementation(function (this: DatabaseSync) {
    const settingOf = (pragma: string) => Object.values(this.prepare(`PRAGMA ${pragma}`).get() ?? {})[0];
    const file = this.location()?.split("/").at(-1) ?? "";
    seen.push({ file, journal: settingOf("journal_mode"), synchronous: settingOf("synchronous") });
    close.call(this);
  });
  onTestFinished(() => spy.mockRestore());
  return seen;
}

it("every database is written through a log that is synced at each commit, from its start to its end", async () => {
  const seen = settingsAtClose();
  const { run, objects, fileOf } = openWorld();
  const [journal, synchronous] = await run("a", ({ storage }) => {
    storage.sql.exec("CREATE TABLE t (v)");
    void storage.setAlarm(Date.now() + 60_000);
    return ["journal_mode", "synchronous"].map(
      (name) => storage.sql.exec(`PRAGMA ${name}`).toArray()[0]?.[name],
    );
  });
  expect([journal, synchronous]).toEqual(["wal", FULL]);
  objects.close();
  const file = fileOf("a");
  withObjectFile(file, ({ sql }) => sql.exec("INSERT INTO t VALUES (1)"));
  repairObjectFile(file);
  shrinkObjectFiles(join(file, "../.."), expect.fail);
  expect(new Set(seen.map((each) => each.file))).toEqual(
    new Set(["metadata.sqlite", file.split("/").at(-1)]),
  );
  expect(seen.length).toBeGreaterThan(5);
  for (const each of seen) expect(each).toMatchObject({ journal: "wal", synchronous: FULL });
});

it("the same holds for one that is opened on a full disk, and when there is room again", () => {
  const seen = settingsAtClose();
  const folder = temporaryFolder();
  const disk = { isFull: true, foundFull: () => false };
  const { room, close } = openObjects({
    folder,
    classes: { A: { uniqueKey: "w-A", construct: () => ({}) } },
    vars: {},
    error: expect.fail,
    disk,
  });
  withObjectFile(objectFile(join(folder, "w-A"), "0".repeat(64)), ({ sql }) =>
    sql.exec("CREATE TABLE t (v)"),
  );
  room(true);
  room(false);
  close();
  expect(seen).toHaveLength(3);
  for (const each of seen) expect(each).toMatchObject({ journal: "wal", synchronous: FULL });
});

it.runIf(process.platform !== "win32")(
  "what is kept may be read by nobody else, whatever the process makes otherwise",
  async () => {
    const umask = process.umask(0);
    onTestFinished(() => void process.umask(umask));
    const { run, folder } = openWorld();
    await run("a", ({ storage }) => void storage.sql.exec("CREATE TABLE t (v)"));
    const made = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) =>
      statSync(join(folder, name)),
    );
    expect(made.filter((each) => each.isDirectory()).map(({ mode }) => mode & 0o777)).toEqual([0o700]);
    // Two databases with their logs, and what connections share of those.
    expect(made.filter((each) => each.isFile()).map(({ mode }) => mode & 0o777)).toEqual(
      Array(6).fill(0o600),
    );
  },
);
