import { copyFile, mkdtemp, open, readdir, rm, stat, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Random } from "../random.ts";

/** Ways in which the files of an object are damaged. */
export const DAMAGES = [
  "bytes of the database flipped",
  "bytes of the log flipped",
  "database truncated",
  "end of the log cut off",
  "log removed",
  "everything removed",
] as const;
export type Damage = (typeof DAMAGES)[number];

/** Most bytes that are flipped at a time. */
const FLIPPED_MAX = 8;

/** The database of each queue, by name; call while nothing has them open. */
export async function queueFiles(persistDir: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const file of await databases(persistDir, "QueueBroker")) {
    const name = await nameIn(file);
    if (name !== null) files.set(name, file);
  }
  return files;
}

/** The database of the Directory. */
export async function directoryFile(persistDir: string): Promise<string> {
  const [file] = await databases(persistDir, "Directory");
  if (file === undefined) throw new Error("the Directory has stored nothing");
  return file;
}

/** Damages the files of an object. Answers with what was done, or `null` where there was nothing to do it to. */
export async function damage(file: string, kind: Damage, random: Random): Promise<string | null> {
  const log = `${file}-wal`;
  switch (kind) {
    case "bytes of the database flipped":
      return flip(file, random);
    case "bytes of the log flipped":
      return flip(log, random);
    case "database truncated":
      return cut(file, random);
    case "end of the log cut off":
      return cut(log, random);
    case "log removed":
      return remove([log, `${file}-shm`]);
    case "everything removed":
      return remove([file, log, `${file}-shm`]);
  }
}

async function databases(persistDir: string, className: string): Promise<string[]> {
  const files = await readdir(persistDir, { recursive: true });
  return files
    .filter((file) => file.endsWith(".sqlite") && path.dirname(file).endsWith(`-${className}`))
    .filter((file) => path.basename(file) !== "metadata.sqlite")
    .map((file) => path.join(persistDir, file));
}

/** The queue that a database belongs to; read from a copy, because reading may move the log into the database. */
async function nameIn(file: string): Promise<string | null> {
  const folder = await mkdtemp(path.join(tmpdir(), "sluice-state-copy-"));
  try {
    const copy = path.join(folder, "copy.sqlite");
    await copyFile(file, copy);
    await copyFile(`${file}-wal`, `${copy}-wal`).catch(() => {});
    const database = new DatabaseSync(copy);
    try {
      const row = database.prepare("SELECT value FROM meta WHERE key = 'name'").get();
      return typeof row?.value === "string" ? row.value : null;
    } finally {
      database.close();
    }
  } catch {
    return null;
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => null))?.size ?? 0;
}

async function flip(file: string, random: Random): Promise<string | null> {
  const size = await sizeOf(file);
  if (size === 0) return null;
  const handle = await open(file, "r+");
  try {
    const count = random.int(1, FLIPPED_MAX);
    for (let i = 0; i < count; i++) {
      const at = random.int(0, size - 1);
      const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, at);
      await handle.write(Buffer.of((buffer[0] ?? 0) ^ (1 << random.int(0, 7))), 0, 1, at);
    }
    return `${count} bits of ${size} bytes`;
  } finally {
    await handle.close();
  }
}

async function cut(file: string, random: Random): Promise<string | null> {
  const size = await sizeOf(file);
  if (size === 0) return null;
  const left = random.int(0, size - 1);
  await truncate(file, left);
  return `${left} of ${size} bytes left`;
}

async function remove(files: readonly string[]): Promise<string | null> {
  const sizes = await Promise.all(files.map(sizeOf));
  if (sizes.every((size) => size === 0)) return null;
  await Promise.all(files.map((file) => rm(file, { force: true })));
  return `${sizes.reduce((a, b) => a + b)} bytes`;
}
