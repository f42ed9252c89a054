import fs, { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FULL_BYTES, RESERVE_BYTES, RESERVE_FILE, Reserve, ROOM_BYTES } from "./reserve.ts";

describe("the reserve of a data folder", () => {
  let folder: string;
  let freeBytes: number;
  let reserve: Reserve | undefined;
  const lines: string[] = [];
  const reported: boolean[] = [];
  const isKept = () => existsSync(join(folder, RESERVE_FILE));
  const open = () => {
    reserve = new Reserve(
      folder,
      (line) => lines.push(line),
      () => freeBytes,
    );
    reserve.watch((isFull) => reported.push(isFull));
    return reserve;
  };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "sluice-reserve-"));
    freeBytes = ROOM_BYTES;
    lines.length = 0;
    reported.length = 0;
  });
  afterEach(() => {
    reserve?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("is a file that takes room, which nobody else may read and the next process finds", () => {
    expect(open().isFull).toBe(false);
    const { size, mode, blocks } = statSync(join(folder, RESERVE_FILE));
    expect([size, mode & 0o777]).toEqual([RESERVE_BYTES, 0o600]);
    expect(blocks * 512).toBeGreaterThanOrEqual(RESERVE_BYTES);
    reserve?.close();
    freeBytes = FULL_BYTES;
    expect(open().isFull).toBe(false);
    expect(lines).toEqual([]);
  });

  it.each([
    [FULL_BYTES - 1, true],
    [FULL_BYTES, false],
    [FULL_BYTES + 1, false],
  ])("is given up at a look that finds %i bytes free: %s", (free, isGivenUp) => {
    open();
    freeBytes = free;
    reserve?.look();
    expect([reserve?.isFull, isKept()]).toEqual([isGivenUp, !isGivenUp]);
    expect(reported).toEqual(isGivenUp ? [true] : []);
  });

  it.each([
    [ROOM_BYTES - 1, false],
    [ROOM_BYTES, true],
    [ROOM_BYTES + 1, true],
  ])("is made again at a look that finds %i bytes free: %s", (free, isMade) => {
    expect(open().foundFull()).toBe(true);
    expect(reserve?.foundFull()).toBe(false);
    freeBytes = free;
    reserve?.look();
    expect([reserve?.isFull, isKept()]).toEqual([!isMade, isMade]);
    expect(reported).toEqual(isMade ? [true, true, false] : [true, true]);
    expect(lines).toHaveLength(isMade ? 2 : 1);
  });

  it("is not there at the start on a full disk, or where a process was killed as it made it", () => {
    writeFileSync(join(folder, RESERVE_FILE), "some of it");
    freeBytes = ROOM_BYTES - 1;
    expect(open().isFull).toBe(true);
    expect(reported).toEqual([true]);
    expect(lines[0]).toContain("is full: no messages are taken in until 10 MB are free.");
    freeBytes = ROOM_BYTES;
    reserve?.look();
    expect(statSync(join(folder, RESERVE_FILE)).size).toBe(RESERVE_BYTES);
  });

  it("is given up at the start on a disk that was filled meanwhile", () => {
    open().close();
    freeBytes = FULL_BYTES - 1;
    expect(open().isFull).toBe(true);
    expect(isKept()).toBe(false);
  });

  it("is made at a later look where one fails for want of a file descriptor", () => {
    open().foundFull();
    const openSync = vi.spyOn(fs, "openSync").mockImplementation(() => {
      throw Object.assign(new Error("EMFILE: too many open files"), { code: "EMFILE" });
    });
    syncBuiltinESMExports();
    expect(() => reserve?.look()).not.toThrow();
    expect(reserve?.isFull).toBe(true);
    openSync.mockRestore();
    syncBuiltinESMExports();
    reserve?.look();
    expect(reserve?.isFull).toBe(false);
  });

  it("harms nobody whose folder is gone", () => {
    open();
    rmSync(folder, { recursive: true });
    reserve?.look();
    expect(reserve?.isFull).toBe(false);
    reserve?.foundFull();
    reserve?.look();
    expect(reserve?.isFull).toBe(true);
  });
});
