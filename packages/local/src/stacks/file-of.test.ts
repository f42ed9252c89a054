import { expect, it } from "vitest";
import { fileOf } from "./file-of.ts";

it.each([
  ["file:///C:/a%20b/c.ts", true, "C:\\a b\\c.ts"],
  ["file://server/share/c.ts", true, "\\\\server\\share\\c.ts"],
  ["file:///no/drive.ts", true, null],
  ["C:\\a b\\c.ts", true, "C:\\a b\\c.ts"],
  ["file:///a%20b/c.ts", false, "/a b/c.ts"],
  ["file://server/share/c.ts", false, null],
  ["file:///a%2Fb.ts", false, null],
  ["/a b/c.ts", false, "/a b/c.ts"],
])("the file of %s, on Windows: %s, is %s", (place, windows, expected) => {
  expect(fileOf(place, windows)).toBe(expected);
});
