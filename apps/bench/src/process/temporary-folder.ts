import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

/** A new folder for the state of one system. */
export async function temporaryFolder(name: string): Promise<string> {
  return mkdtemp(path.join(tmpdir(), `sluice-bench-${name}-`));
}

export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}
