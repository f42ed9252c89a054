import { describe, expect, it } from "vitest";
import { isFileDamage, REPAIR_BYTES_MAX, repairFile, STRUCTURE_CHECK_BYTES_MAX } from "./file-damage.ts";

/** A database of that size in which SQLite finds something wrong with the list of free pages. */
function damagedFile(databaseSize: number) {
  const asked: string[] = [];
  const exec = (query: string) => {
    asked.push(query);
    return {
      toArray: () => [{ quick_check: "*** in database main ***\nFreelist: size is 1 but should be 2" }],
    };
  };
  return { storage: { sql: { databaseSize, exec } } as unknown as DurableObjectStorage, asked };
}

describe("the check of a database file at a start", () => {
  it.each([
    [STRUCTURE_CHECK_BYTES_MAX - 1, "damaged"],
    [STRUCTURE_CHECK_BYTES_MAX, "damaged"],
    [STRUCTURE_CHECK_BYTES_MAX + 1, "sound"],
  ])("is made of up to 64 MB: %i bytes are %s", (bytes, kind) => {
    const { storage, asked } = damagedFile(bytes);
    expect(repairFile(storage, false).kind).toBe(kind);
    expect(asked).toHaveLength(kind === "sound" ? 0 : 1);
  });

  it.each([
    [STRUCTURE_CHECK_BYTES_MAX + 1, "Freelist: size is 1 but should be 2"],
    [REPAIR_BYTES_MAX - 1, "Freelist: size is 1 but should be 2"],
    [REPAIR_BYTES_MAX, "Freelist: size is 1 but should be 2"],
    [REPAIR_BYTES_MAX + 1, "it has 1000000001 bytes, which is too much to repair it"],
  ])("is made of up to 1 GB once damage was met in it: of %i bytes it finds %s", (bytes, finding) => {
    expect(repairFile(damagedFile(bytes).storage, true)).toEqual({ kind: "damaged", finding });
  });

  it("names what SQLite has found", () => {
    expect(repairFile(damagedFile(4_096).storage, false)).toEqual({
      kind: "damaged",
      finding: "Freelist: size is 1 but should be 2",
    });
  });
});

it("tells damage to a file from other failures", () => {
  expect(isFileDamage(new Error("database disk image is malformed: SQLITE_CORRUPT"))).toBe(true);
  expect(isFileDamage(new Error("file is not a database: SQLITE_NOTADB"))).toBe(true);
  expect(isFileDamage(new Error("database or disk is full: SQLITE_FULL"))).toBe(false);
});
