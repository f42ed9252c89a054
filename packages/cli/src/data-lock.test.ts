import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LOCK_FILE, lockData } from "./data-lock.ts";

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
});
