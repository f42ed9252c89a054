import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { mountSmallDisk } from "../test/small-disk.ts";
import { LOCK_FILE, lockData, OBJECTS_FOLDER } from "./data-lock.ts";
import { CliError } from "./errors.ts";

const MODULE = fileURLToPath(new URL("./data-lock.ts", import.meta.url));
/** Whom root runs something as that must not be allowed everything; `null` where nobody else may read the sources. */
const anotherUser = userBesidesRoot();

function userBesidesRoot(): { readonly uid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const user = { uid: 65_534 };
  const check = `require("fs").accessSync(${JSON.stringify(MODULE)})`;
  return spawnSync(process.execPath, ["-e", check], user).status === 0 ? user : null;
}

describe("a data folder", () => {
  let folder: string;
  const file = () => join(folder, LOCK_FILE);
  beforeEach(() => {
    folder = join(mkdtempSync(join(tmpdir(), "sluice-lock-")), "state");
  });
  afterEach(() => rmSync(join(folder, ".."), { recursive: true, force: true }));

  it("is one process's at a time, and the others are told whose", () => {
    const free = lockData(folder, "sluice serve");
    expect(() => lockData(folder, "sluice dev")).toThrow(
      `The data in ${folder} are in use by sluice serve (process ${process.pid}).`,
    );
    free();
    expect(existsSync(file())).toBe(false);
    const freeAgain = lockData(folder, "sluice dev");
    // Whoever has given it free has nothing to give any more.
    free();
    expect(existsSync(file())).toBe(true);
    freeAgain();
  });

  it("is taken over from a process that was killed", async () => {
    const child = spawn(process.execPath, ["-e", ""], { stdio: "ignore" });
    await new Promise((resolve) => child.once("exit", resolve));
    const free = lockData(folder, "sluice serve");
    const held = JSON.parse(readFileSync(file(), "utf8"));
    free();
    writeFileSync(file(), JSON.stringify({ ...held, pid: child.pid }));
    lockData(folder, "sluice serve")();
  });

  it("is taken over when its number is another process's by now", () => {
    const free = lockData(folder, "sluice serve");
    const held = JSON.parse(readFileSync(file(), "utf8"));
    free();
    expect(held).toMatchObject({ pid: process.pid, command: "sluice serve", started: expect.any(String) });
    writeFileSync(file(), JSON.stringify({ ...held, started: "long ago" }));
    lockData(folder, "sluice serve")();
  });

  it("is taken over from a file that says nothing", () => {
    lockData(folder, "sluice serve")();
    writeFileSync(file(), "");
    lockData(folder, "sluice serve")();
  });

  it.each([
    ["a file", () => writeFileSync(folder, ""), "a file stands where a folder should"],
    ["a file below", () => writeBelow("v3"), "a file stands where a folder should"],
  ])("cannot be %s, and is not held then", (_, make, reason) => {
    make();
    expect(() => lockData(folder, "sluice serve")).toThrow(
      new CliError(
        `The data cannot be kept in ${folder}: ${reason}. Choose another folder with --persist-to.`,
      ),
    );
    expect(existsSync(file())).toBe(false);
  });

  const disk = mountSmallDisk();
  it.runIf(disk !== null)("cannot be on a full disk, and leaves no lock that says nothing there", () => {
    const state = join(disk?.folder ?? "", "state");
    try {
      mkdirSync(join(state, OBJECTS_FOLDER), { recursive: true });
      disk?.fill();
      expect(() => lockData(state, "sluice serve")).toThrow("there is no room left on its disk");
      expect(existsSync(join(state, LOCK_FILE))).toBe(false);
      disk?.giveRoom();
      lockData(state, "sluice serve")();
      disk?.makeReadOnly();
      expect(() => lockData(state, "sluice serve")).toThrow("its file system is read-only");
    } finally {
      disk?.unmount();
    }
  });

  it.runIf(anotherUser !== null)("cannot have files of another user in it", () => {
    const own = join(folder, OBJECTS_FOLDER, "sluice-Directory/some.sqlite");
    mkdirSync(dirname(own), { recursive: true });
    writeFileSync(own, "", { mode: 0o644 });
    for (const path of [join(folder, ".."), folder]) chmodSync(path, 0o777);
    const script = `import(${JSON.stringify(MODULE)}).then(({ lockData }) => lockData(${JSON.stringify(folder)}, "sluice serve"))`;
    const { stderr } = spawnSync(process.execPath, ["-e", script], { encoding: "utf8", ...anotherUser });
    expect(stderr).toContain(`The data cannot be kept in ${folder}: `);
    expect(stderr).toContain(": this user may not write there. Choose");
    expect(existsSync(file())).toBe(false);
  });

  function writeBelow(name: string): void {
    mkdirSync(folder);
    writeFileSync(join(folder, name), "");
  }
});
