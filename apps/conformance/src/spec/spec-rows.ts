import { readFileSync } from "node:fs";
import path from "node:path";

/** Row of the specification: one fact about production. */
export interface SpecRow {
  readonly key: string;
  /** Sources of the fact. */
  readonly sources: readonly string[];
  /** Reason why the sheet needs no row for it; `null` if it needs one. */
  readonly excuse: string | null;
}

/** Reads the rows of `spec-rows.txt`, in order. Throws on a malformed line, and on a key that comes twice. */
export function readSpecRows(): SpecRow[] {
  const text = readFileSync(path.join(import.meta.dirname, "spec-rows.txt"), "utf8");
  const rows = text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map(parseLine);
  const keys = new Set<string>();
  for (const { key } of rows) {
    if (keys.has(key)) throw new Error(`spec-rows.txt has ${key} twice`);
    keys.add(key);
  }
  return rows;
}

function parseLine(line: string): SpecRow {
  const [key, sources, excuse = null, ...rest] = line.split(" | ");
  if (!key || !sources || rest.length > 0) throw new Error(`spec-rows.txt: ${line}`);
  return { key, sources: sources.split(", "), excuse };
}
