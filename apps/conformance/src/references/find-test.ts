import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { TestReference } from "../scenario/row.ts";

const REPOSITORY = path.resolve(import.meta.dirname, "../../../..");

/**
 * What is wrong with a reference: `null` when its file has a string of that name. Tests, groups and the rows of their
 * tables are all named by one.
 */
export function complaintAbout({ file, name }: TestReference): string | null {
  const place = path.join(REPOSITORY, file);
  if (!/\.test\.ts$/.test(file) || !existsSync(place)) return `there is no test file ${file}`;
  const source = readFileSync(place, "utf8");
  const isThere = ['"', "'", "`"].some((quote) => source.includes(quote + name + quote));
  return isThere ? null : `${file} has no test "${name}"`;
}
