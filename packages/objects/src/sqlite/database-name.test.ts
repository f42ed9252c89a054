import { posix, win32 } from "node:path";
import { describe, expect, it } from "vitest";
import { databaseName } from "./database-name.ts";

describe("a database", () => {
  /** @param length characters of the whole name. */
  const named = (root: string, length: number) => root + "x".repeat(length - root.length);

  it.each([250, 251])("whose name has %i characters is called by it on Windows", (length) => {
    const file = named("C:\\data\\", length);
    expect(databaseName(file, win32)).toBe(file);
  });

  it("with a longer name is called by that of the namespace, which a journal fits behind", () => {
    const file = named("C:\\data\\", 252);
    expect(databaseName(file, win32)).toBe(`\\\\?\\${file}`);
    const shared = named("\\\\server\\share\\", 300);
    expect(databaseName(shared, win32)).toBe(`\\\\?\\UNC\\${shared.slice(2)}`);
  });

  it("with a long name is called by it on other systems", () => {
    const file = named("/data/", 300);
    expect(databaseName(file, posix)).toBe(file);
  });
});
