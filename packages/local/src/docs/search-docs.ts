import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DOCS_FOLDER } from "./docs-folder.ts";
import type { Section } from "./section.ts";

/** Most sections that are found. */
export const FOUND_MAX = 8;
/** Most characters of a section that are shown. */
const SHOWN_MAX = 1_500;

let known: readonly Section[] | undefined;

/** Finds the sections of the documentation that match the words of a query best, the best first. */
export function searchDocs(query: string): Section[] {
  known ??= sectionsIn(DOCS_FOLDER);
  return bestOf(known, query).map(({ text, ...section }) => ({ ...section, text: cut(text) }));
}

/** Chooses the `FOUND_MAX` sections with the best rating (`rateOf`). */
export function bestOf(sections: readonly Section[], query: string): Section[] {
  const words = [...new Set(query.toLowerCase().match(/[\p{L}\p{N}_-]+/gu) ?? [])];
  const rated = sections.map((section) => ({ section, rate: rateOf(section, words) }));
  return rated
    .filter(({ rate }) => rate > 0)
    .sort((a, b) => b.rate - a.rate)
    .slice(0, FOUND_MAX)
    .map(({ section }) => section);
}

/** Rates a section by the words that it contains: more for one in its heading or file name, less in a long text. */
function rateOf({ heading, text, file }: Section, words: readonly string[]): number {
  const [title, body] = [`${heading} ${file}`.toLowerCase(), text.toLowerCase()];
  const rates = words.map((word) => {
    const count = Math.min(3, body.split(word).length - 1);
    return count === 0 && !title.includes(word) ? 0 : 10 + count + (title.includes(word) ? 9 : 0);
  });
  // A long section has every word somewhere.
  return rates.reduce((sum, rate) => sum + rate, 0) / Math.log10(100 + body.length);
}

/** Reads the sections of all files of a folder; none where there is no such folder. */
function sectionsIn(folder: string): Section[] {
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith(".md"));
  } catch {
    return [];
  }
  return names.flatMap((name) => sectionsOf(`docs/${name}`, readFileSync(join(folder, name), "utf8")));
}

/** Divides a document at its headings. Lines that begin with "#" in a code block are no headings. */
export function sectionsOf(file: string, text: string): Section[] {
  const sections: { heading: string; lines: string[] }[] = [];
  let isCode = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) isCode = !isCode;
    const [, heading] = isCode ? [] : (/^#{1,4} (.+)$/.exec(line) ?? []);
    if (heading !== undefined) sections.push({ heading, lines: [] });
    else sections.at(-1)?.lines.push(line);
  }
  return sections.map(({ heading, lines }) => ({ file, heading, text: lines.join("\n").trim() }));
}

function cut(text: string): string {
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)} …`;
}
