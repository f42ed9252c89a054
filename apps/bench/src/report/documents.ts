import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { replaceBlock } from "./document-block.ts";

const DOCS = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../../../docs");
const PERFORMANCE = path.join(DOCS, "performance.md");
const CHART = path.join(DOCS, "images/performance.svg");

/** Puts figures into their block of `docs/performance.md`. */
export async function writeFigures(name: string, content: string): Promise<void> {
  await writeFile(PERFORMANCE, replaceBlock(await readFile(PERFORMANCE, "utf8"), name, content));
}

/** The picture that `docs/performance.md` shows. */
export async function writeChart(svg: string): Promise<void> {
  await writeFile(CHART, svg);
}
