import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { makeSheet, SHEET_FILE, type Sheet } from "./sheet/make-sheet.ts";
import { allRows } from "./sheet/sections.ts";

describe("docs/conformance.md", () => {
  let sheet: Sheet;
  beforeAll(async () => {
    sheet = await makeSheet();
  }, 480_000);

  it.each(allRows().filter(({ reason }) => reason === undefined))(
    "Sluice does what production does: $id",
    ({ id }) => {
      expect(sheet.measured.get(id)?.sluice).toEqual({ kind: "yes" });
    },
  );

  it.each(allRows().filter(({ reason }) => reason !== undefined))(
    "Sluice differs on purpose, and the sheet says why: $id",
    ({ id, reason }) => {
      expect(sheet.measured.get(id)?.sluice.kind).not.toBe("yes");
      expect(reason).toMatch(/\w{3,}/);
    },
  );

  it("is what was measured: `pnpm conformance` writes it anew", () => {
    expect(readFileSync(SHEET_FILE, "utf8")).toBe(sheet.text);
  });
});
