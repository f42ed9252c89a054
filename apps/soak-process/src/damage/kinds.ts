import { existsSync } from "node:fs";
import { open, rm, stat, truncate } from "node:fs/promises";
import type { Random } from "@sluice/harness/random";
import { type Database, moveLogIntoFile } from "./state-files.ts";

/** Ways in which the files of an object are damaged while nothing runs. */
export const DAMAGE_KINDS = [
  "bytes of the file flipped",
  "file truncated",
  "file overwritten",
  "file removed",
  "bytes of the log flipped",
  "log cut",
  "log removed",
] as const;

export type DamageKind = (typeof DAMAGE_KINDS)[number];

/** Most bytes that are flipped in one case. */
const FLIPS_MAX = 8;

/**
 * Damages a database.
 *
 * @returns what was done, in words, with positions.
 */
export async function damage(kind: DamageKind, database: Database, random: Random): Promise<string> {
  const { file, wal } = database;
  switch (kind) {
    case "bytes of the file flipped":
      moveLogIntoFile(database);
      return flip(file, random);
    case "file truncated":
      moveLogIntoFile(database);
      return cut(file, random);
    case "file overwritten":
      moveLogIntoFile(database);
      return overwrite(file, random);
    case "file removed":
      await rm(file);
      await rm(wal, { force: true });
      return "the file and its log are removed";
    case "bytes of the log flipped":
      return flip(wal, random);
    case "log cut":
      return cut(wal, random);
    case "log removed":
      if (!existsSync(wal)) throw new Error("there is no log");
      await rm(wal);
      return "the log is removed";
  }
}

async function flip(file: string, random: Random): Promise<string> {
  const { size } = await stat(file);
  const positions = Array.from({ length: random.between(1, FLIPS_MAX) }, () => random.between(0, size - 1));
  const handle = await open(file, "r+");
  try {
    for (const position of positions) {
      const byte = Buffer.alloc(1);
      await handle.read(byte, 0, 1, position);
      byte[0] = (byte[0] ?? 0) ^ (1 << random.between(0, 7));
      await handle.write(byte, 0, 1, position);
    }
  } finally {
    await handle.close();
  }
  return `one bit each at ${positions.join(", ")} of ${size} bytes`;
}

async function cut(file: string, random: Random): Promise<string> {
  const { size } = await stat(file);
  const length = random.between(0, size - 1);
  await truncate(file, length);
  return `cut from ${size} to ${length} bytes`;
}

/** Overwrites a stretch of up to 64 KB with one byte value. */
async function overwrite(file: string, random: Random): Promise<string> {
  const { size } = await stat(file);
  const length = Math.min(size, random.between(512, 65_536));
  const position = random.between(0, size - length);
  const handle = await open(file, "r+");
  try {
    await handle.write(Buffer.alloc(length, random.pick([0, 0x55, 0xff])), 0, length, position);
  } finally {
    await handle.close();
  }
  return `${length} bytes overwritten at ${position} of ${size}`;
}
