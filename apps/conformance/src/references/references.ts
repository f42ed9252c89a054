import { readFileSync } from "node:fs";
import path from "node:path";
import { type ReferenceRow, type Verdict, YES } from "../scenario/row.ts";

/** Reads the rows of `references.txt` by the titles of their sections. Throws on a malformed line. */
export function readReferences(): ReadonlyMap<string, readonly ReferenceRow[]> {
  const sections = new Map<string, ReferenceRow[]>();
  let rows: ReferenceRow[] = [];
  for (const line of readFileSync(path.join(import.meta.dirname, "references.txt"), "utf8").split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    if (line.startsWith("= ")) {
      rows = [];
      sections.set(line.slice(2), rows);
    } else rows.push(rowOf(line));
  }
  return sections;
}

function rowOf(line: string): ReferenceRow {
  const [id, covers, production, miniflare, sluice, reason, ...rest] = line.split(" | ");
  const isComplete = (sluice === undefined) === (reason === undefined) && rest.length === 0;
  if (!id || !covers || !production || !miniflare || !isComplete) throw new Error(`references.txt: ${line}`);
  return {
    id,
    production,
    covers: covers.split(", "),
    miniflare: verdictIn(miniflare),
    ...(sluice !== undefined && reason !== undefined ? { sluice: verdictIn(sluice), reason } : {}),
  };
}

function verdictIn(text: string): Verdict {
  if (text === "yes") return YES;
  const [, kind, observed = ""] = /^(no|differs): (.+)$/.exec(text) ?? [];
  if (kind !== "no" && kind !== "differs") throw new Error(`references.txt: ${text} is no verdict`);
  return { kind, observed };
}
