import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const BLOCK = Buffer.alloc(4_096, 1);

/** A disk of its own, in memory, that can be filled up and given room again; `null` where mounting is not allowed. */
export interface SmallDisk {
  readonly folder: string;
  /** Takes all the room that is left. */
  fill(): void;
  giveRoom(): void;
  makeReadOnly(): void;
  unmount(): void;
}

export function mountSmallDisk(megabytes = 32): SmallDisk | null {
  const folder = mkdtempSync(join(tmpdir(), "sluice-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder], { stdio: "ignore" });
  } catch {
    rmSync(folder, { recursive: true });
    return null;
  }
  const ballast = join(folder, "ballast");
  return {
    folder,
    fill() {
      const file = openSync(ballast, "a");
      try {
        for (;;) writeSync(file, BLOCK);
      } catch (error) {
        if (!String(error).includes("ENOSPC")) throw error;
      } finally {
        closeSync(file);
      }
    },
    giveRoom: () => rmSync(ballast, { force: true }),
    makeReadOnly: () => void execFileSync("mount", ["-o", "remount,ro", folder]),
    unmount() {
      execFileSync("umount", ["-l", folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
