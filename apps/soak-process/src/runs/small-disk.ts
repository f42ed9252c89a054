import { execFile } from "node:child_process";
import { mkdir, mkdtemp, open, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Size of the disk: a few databases and their logs fit, and it is soon full. */
const DISK_MB = 32;

/** A disk in memory that can be filled up and given room again. Needs the right to mount. */
export class SmallDisk {
  /** An empty folder on it. */
  readonly folder: string;
  readonly #mountPoint: string;

  /** Whether this process may mount a disk. */
  static canMount(): Promise<boolean> {
    return SmallDisk.mount().then(
      (disk) => disk.unmount().then(() => true),
      () => false,
    );
  }

  /** Mounts a disk. Throws if that is not allowed. */
  static async mount(): Promise<SmallDisk> {
    const mountPoint = await mkdtemp(path.join(tmpdir(), "sluice-small-disk-"));
    try {
      await run("mount", ["-t", "tmpfs", "-o", `size=${DISK_MB}m`, "tmpfs", mountPoint]);
    } catch (error) {
      await rm(mountPoint, { recursive: true });
      throw error;
    }
    const disk = new SmallDisk(mountPoint);
    await mkdir(disk.folder);
    return disk;
  }

  private constructor(mountPoint: string) {
    this.#mountPoint = mountPoint;
    this.folder = path.join(mountPoint, "state");
  }

  /** Fills the disk until about `freeBytes` are free. */
  async fill(freeBytes: number): Promise<void> {
    const { bavail, bsize } = await statfs(this.#mountPoint);
    const file = await open(this.#ballast, "w");
    try {
      const block = Buffer.alloc(bsize, 1);
      for (let left = bavail * bsize - freeBytes; left >= bsize; left -= bsize) await file.write(block);
    } catch (error) {
      // Writes of the broker took the rest meanwhile.
      if (!String(error).includes("ENOSPC")) throw error;
    } finally {
      await file.close();
    }
  }

  async giveRoom(): Promise<void> {
    await rm(this.#ballast, { force: true });
  }

  async unmount(): Promise<void> {
    await run("umount", ["-l", this.#mountPoint]);
    await rm(this.#mountPoint, { recursive: true, force: true });
  }

  get #ballast(): string {
    return path.join(this.#mountPoint, "ballast");
  }
}
