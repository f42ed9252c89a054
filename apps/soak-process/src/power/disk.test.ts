import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Random } from "@sluice/harness/random";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CUT_KINDS, filesAfterCut } from "./cut.ts";
import { type Change, Disk, type Files } from "./disk.ts";

const FOLDERS = ["", "a", "a/b"];
const NAMES = ["x", "y", "z-shm"];

/** Steps of which only those are taken that are possible. */
const step = fc.record({
  kind: fc.constantFrom("file", "folder", "write", "resize", "rename", "remove", "sync"),
  folder: fc.constantFrom(...FOLDERS),
  name: fc.constantFrom(...NAMES),
  other: fc.constantFrom(...NAMES),
  at: fc.integer({ min: 0, max: 3_000 }),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 2_000 }),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
const steps = fc.array(step, { maxLength: 40 });

const pathOf = (folder: string, name: string) => (folder === "" ? name : `${folder}/${name}`);

function changeOf(disk: Disk, { kind, folder, name, other, at, bytes }: Step): Change | null {
  const path = pathOf(folder, name);
  const isThere = disk.has(path);
  if (!disk.has(folder)) return null;
  switch (kind) {
    case "file":
      return isThere ? null : { kind: "create", path, isFolder: false };
    case "write":
      return isThere ? { kind, path, at, bytes } : null;
    case "resize":
      return isThere ? { kind, path, size: at } : null;
    case "rename":
      return isThere && name !== other ? { kind, path, to: pathOf(folder, other) } : null;
    case "remove":
      return isThere ? { kind, path } : null;
    default: {
      const next = FOLDERS[FOLDERS.indexOf(folder) + 1];
      return next === undefined || disk.has(next) ? null : { kind: "create", path: next, isFolder: true };
    }
  }
}

/** Takes the steps; `sync` syncs a file or its folder. */
function diskAfter(taken: readonly Step[], onChange: (change: Change) => void = () => {}): Disk {
  const disk = new Disk();
  for (const [i, each] of taken.entries()) {
    if (each.kind === "sync") {
      const path = pathOf(each.folder, each.name);
      if (disk.has(path)) disk.sync(path, i);
      else if (disk.has(each.folder)) disk.sync(each.folder, i);
      continue;
    }
    const change = changeOf(disk, each);
    if (change === null) continue;
    disk.apply(change, i);
    onChange(change);
  }
  return disk;
}

function syncAll(disk: Disk): void {
  for (const folder of FOLDERS) if (disk.has(folder)) disk.sync(folder, Infinity);
  for (const path of disk.files().keys()) disk.sync(path, Infinity);
}

const plain = (files: Files) =>
  new Map([...files].filter(([path]) => !path.endsWith("-shm")).map(([path, bytes]) => [path, [...bytes]]));
const kinds = fc.constantFrom(...CUT_KINDS);
const seeds = fc.integer({ min: 0, max: 1_000_000 });

describe("a disk", () => {
  it("has the files that a real one has after the same changes", () => {
    fc.assert(
      fc.property(steps, (taken) => {
        const root = mkdtempSync(join(tmpdir(), "sluice-disk-"));
        try {
          const disk = diskAfter(taken, (change) => doReally(root, change));
          expect(new Map([...disk.files()].map(([path, bytes]) => [path, [...bytes]]))).toEqual(
            filesIn(root),
          );
        } finally {
          rmSync(root, { recursive: true });
        }
      }),
      { numRuns: 200 },
    );
  });

  it("on which everything was synced has its files after every power cut", () => {
    fc.assert(
      fc.property(steps, kinds, seeds, (taken, kind, seed) => {
        const disk = diskAfter(taken);
        syncAll(disk);
        expect(plain(filesAfterCut(disk, kind, new Random(seed)))).toEqual(plain(disk.files()));
      }),
    );
  });

  it("keeps what was synced, whatever is done then and not synced", () => {
    fc.assert(
      fc.property(steps, fc.uint8Array({ maxLength: 3_000 }), kinds, seeds, (taken, bytes, kind, seed) => {
        const disk = diskAfter([]);
        disk.apply({ kind: "create", path: "kept", isFolder: false }, 0);
        disk.apply({ kind: "write", path: "kept", at: 0, bytes }, 1);
        disk.sync("kept", 2);
        disk.sync("", 2);
        for (const [i, each] of taken.entries()) {
          const change = each.kind === "sync" ? null : changeOf(disk, each);
          if (change !== null) disk.apply(change, 3 + i);
        }
        expect(filesAfterCut(disk, kind, new Random(seed)).get("kept")).toEqual(bytes);
      }),
    );
  });

  it("has nothing and everything of what was not synced, by the kind of the cut", () => {
    const disk = new Disk();
    disk.apply({ kind: "create", path: "a", isFolder: false }, 0);
    disk.sync("", 1);
    disk.apply({ kind: "write", path: "a", at: 0, bytes: new Uint8Array([1, 2]) }, 2);
    disk.apply({ kind: "create", path: "b", isFolder: false }, 3);
    const random = new Random(1);
    expect(plain(filesAfterCut(disk, "nothing", random))).toEqual(new Map([["a", []]]));
    expect(plain(filesAfterCut(disk, "everything", random))).toEqual(
      new Map([
        ["a", [1, 2]],
        ["b", []],
      ]),
    );
  });

  it("loses a file that was synced with a folder around it that was not", () => {
    const disk = new Disk();
    disk.apply({ kind: "create", path: "a", isFolder: true }, 0);
    disk.apply({ kind: "create", path: "a/x", isFolder: false }, 1);
    disk.sync("a/x", 2);
    disk.sync("a", 2);
    expect([...filesAfterCut(disk, "nothing", new Random(1)).keys()]).toEqual([]);
    disk.sync("", 3);
    expect([...filesAfterCut(disk, "nothing", new Random(1)).keys()]).toEqual(["a/x"]);
  });

  it("does not count a write as synced that had not ended when the sync began", () => {
    const disk = new Disk();
    disk.apply({ kind: "create", path: "a", isFolder: false }, 0);
    disk.sync("", 1);
    disk.apply({ kind: "write", path: "a", at: 0, bytes: new Uint8Array([1]) }, 5);
    disk.sync("a", 4);
    expect(plain(filesAfterCut(disk, "nothing", new Random(1)))).toEqual(new Map([["a", []]]));
    disk.sync("a", 6);
    expect(plain(filesAfterCut(disk, "nothing", new Random(1)))).toEqual(new Map([["a", [1]]]));
  });

  it("tears a write at sectors, old or new bytes in each, and never within one", () => {
    const size = 4_096;
    const disk = new Disk();
    disk.apply({ kind: "create", path: "a", isFolder: false }, 0);
    disk.apply({ kind: "write", path: "a", at: 0, bytes: new Uint8Array(size).fill(1) }, 1);
    disk.sync("a", 2);
    disk.sync("", 2);
    disk.apply({ kind: "write", path: "a", at: 0, bytes: new Uint8Array(size).fill(2) }, 3);
    const seen = new Set<string>();
    for (let seed = 0; seed < 200; seed++) {
      const bytes = filesAfterCut(disk, "torn", new Random(seed)).get("a") ?? new Uint8Array();
      const sectors = Array.from(
        { length: size / 512 },
        (_, i) => new Set(bytes.subarray(512 * i, 512 * (i + 1))),
      );
      expect(sectors.every(({ size: values }) => values === 1)).toBe(true);
      seen.add(sectors.map((values) => [...values][0]).join(""));
    }
    expect(seen.size).toBeGreaterThan(20);
    expect(seen).toContain("11111111");
    expect(seen).toContain("22222222");
  });

  it("refuses what cannot have happened", () => {
    const disk = new Disk();
    expect(() => disk.apply({ kind: "remove", path: "a" }, 0)).toThrow("there is no a");
    expect(() => disk.apply({ kind: "create", path: "a/x", isFolder: false }, 0)).toThrow("no folder around");
    expect(() => disk.sync("a", 0)).toThrow("there is no a");
  });
});

function doReally(root: string, change: Change): void {
  const file = join(root, change.path);
  switch (change.kind) {
    case "create":
      if (change.isFolder) mkdirSync(file);
      else closeSync(openSync(file, "wx"));
      break;
    case "remove":
      unlinkSync(file);
      break;
    case "rename":
      renameSync(file, join(root, change.to));
      break;
    default: {
      const descriptor = openSync(file, "r+");
      if (change.kind === "resize") ftruncateSync(descriptor, change.size);
      else writeSync(descriptor, change.bytes, 0, change.bytes.length, change.at);
      closeSync(descriptor);
    }
  }
}

function filesIn(root: string): Map<string, number[]> {
  const names = readdirSync(root, { recursive: true, encoding: "utf8" });
  return new Map(
    names
      .filter((name) => statSync(join(root, name)).isFile())
      .map((name) => [name, [...readFileSync(join(root, name))]]),
  );
}
