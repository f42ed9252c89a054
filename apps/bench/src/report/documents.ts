import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

const DOCS = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../../../docs");
const MEASUREMENTS = path.join(DOCS, "design", "measurements.md");

/** Puts figures into their block of `docs/design/measurements.md`. */
export async function writeFigures(name: string, content: string): Promise<void> {
  await writeFile(MEASUREMENTS, replaceBlock(await readFile(MEASUREMENTS, "utf8"), name, content));
}

/** Writes a picture that `docs/design/measurements.md` shows. */
export async function writeChart(name: string, svg: string): Promise<void> {
  await writeFile(path.join(DOCS, "images", `${name}.svg`), svg);
}

/**
 * Replaces the text between `<!-- figures: NAME -->` and the next `<!-- end of figures -->` of a document.
 *
 * @throws Error if the document has no such block.
 */
export function replaceBlock(document: string, name: string, content: string): string {
  const start = `<!-- figures: ${name} -->`;
  const end = "<!-- end of figures -->";
  const from = document.indexOf(start);
  const to = document.indexOf(end, from);
  if (from === -1 || to === -1) throw new Error(`the document has no block for the figures "${name}"`);
  return `${document.slice(0, from + start.length)}\n\n${content.trim()}\n\n${document.slice(to)}`;
}
