import { mkdtemp, open, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

/** Makes a new folder for the state of one system. */
export async function temporaryFolder(name: string): Promise<string> {
  return mkdtemp(path.join(tmpdir(), `sluice-bench-${name}-`));
}

export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Syncs all files of a folder, so that their writes do not use the disk during the next measurement. */
export async function flushFolder(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const { name, parentPath } of entries.filter((entry) => entry.isFile())) {
    const file = await open(path.join(parentPath, name), "r");
    await file.sync();
    await file.close();
  }
}
