import { writeFile } from "node:fs/promises";
import { makeSheet, SHEET_FILE } from "./sheet/make-sheet.ts";
import { allRows } from "./sheet/sections.ts";

const { text, measured } = await makeSheet();
await writeFile(SHEET_FILE, text);
const wrong = allRows().filter(
  ({ id, reason }) => reason === undefined && measured.get(id)?.sluice.kind !== "yes",
);
for (const { id, production } of wrong) {
  console.error(`${id}: ${production}\n  Sluice: ${JSON.stringify(measured.get(id)?.sluice)}`);
}
console.log(`${measured.size} rows written to ${SHEET_FILE}`);
process.exitCode = wrong.length === 0 ? 0 : 1;
