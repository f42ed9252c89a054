import type { Random } from "@sluice/harness/random";
import {
  type Content,
  type ContentChange,
  contentAfter,
  type Disk,
  type EntryChange,
  entriesAfter,
  type Files,
  walk,
} from "./disk.ts";

/** Sizes of sectors, which a disk writes as a whole or not at all, in bytes. */
const SECTORS = [512, 4_096] as const;

/** Ways in which a disk keeps some of the changes that were not synced. */
export const CUT_KINDS = ["nothing", "everything", "prefix", "prefixes", "subset", "torn"] as const;
export type CutKind = (typeof CUT_KINDS)[number];

/** Files of memory that processes share (SQLite's index of a log): they may get to the disk at any time. */
const SHARED_MEMORY = /-shm$/;

/**
 * Draws the files that a disk has after a power cut at this moment:
 *
 *  - nothing: only synced changes;
 *  - everything, as if only the processes had been killed;
 *  - prefix: all changes before some moment, as on a disk that keeps their order;
 *  - prefixes: of each file and folder some first changes;
 *  - subset: any changes, each as a whole or not at all;
 *  - torn: any sectors of each write, sizes apart from contents, and foreign bytes where a size was kept alone.
 */
export function filesAfterCut(disk: Disk, kind: CutKind, random: Random): Files {
  const keep = survivorsOf(disk, kind, random);
  const files = new Map<string, Uint8Array>();
  const entriesOf: Parameters<typeof walk>[2] = (folder) =>
    entriesAfter(folder.durable, keep(folder.pending));
  walk(disk.root, "", entriesOf, (path, { durable, pending }) => {
    if (SHARED_MEMORY.test(path)) {
      if (random.chance(0.5)) files.set(path, noise(random, 32_768));
      return;
    }
    const kept =
      kind === "torn" ? tornContent(durable, pending, random) : contentAfter(durable, keep(pending));
    files.set(path, kept);
  });
  return files;
}

type Survivors = <Pending extends ContentChange | EntryChange>(pending: readonly Pending[]) => Pending[];

function survivorsOf(disk: Disk, kind: CutKind, random: Random): Survivors {
  switch (kind) {
    case "nothing":
      return () => [];
    case "everything":
      return (pending) => [...pending];
    case "prefix": {
      const until = random.pick([0, ...momentsOf(disk)]);
      return (pending) => pending.filter(({ endedAt }) => endedAt <= until);
    }
    case "prefixes":
      return (pending) => pending.slice(0, random.between(0, pending.length));
    default: {
      const probability = random.pick([0.1, 0.5, 0.9]);
      return (pending) => pending.filter(() => random.chance(probability));
    }
  }
}

/** Moments at which changes ended that were not synced. */
function momentsOf(disk: Disk): number[] {
  const moments: number[] = [];
  walk(
    disk.root,
    "",
    (folder) => {
      moments.push(...folder.pending.map(({ endedAt }) => endedAt));
      return folder.entries;
    },
    (_, { pending }) => moments.push(...pending.map(({ endedAt }) => endedAt)),
  );
  return moments;
}

function tornContent(durable: Content, pending: readonly ContentChange[], random: Random): Uint8Array {
  const sector = random.pick(SECTORS);
  const probability = random.pick([0.1, 0.5, 0.9]);
  const content = durable.copy();
  for (const change of pending) {
    if (change.kind === "resize") {
      if (random.chance(0.5)) content.resize(change.size);
      continue;
    }
    const end = change.at + change.bytes.length;
    if (end > content.size && random.chance(0.5)) {
      const before = content.size;
      content.extend(end);
      if (random.chance(0.5)) content.put(before, noise(random, end - before));
    }
    for (let from = change.at; from < end; ) {
      const to = Math.min(end, (Math.floor(from / sector) + 1) * sector);
      if (random.chance(probability)) {
        content.put(from, change.bytes.subarray(from - change.at, to - change.at));
      }
      from = to;
    }
  }
  return content.bytes();
}

function noise(random: Random, length: number): Uint8Array {
  const words = new Uint32Array(Math.ceil(length / 4));
  for (let i = 0; i < words.length; i++) words[i] = random.next();
  return new Uint8Array(words.buffer, 0, length);
}
