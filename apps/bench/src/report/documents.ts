import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { replaceBlock } from "./document-block.ts";

const DOCS = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../../../docs");
const PERFORMANCE = path.join(DOCS, "performance.md");

/** Puts figures into their block of `docs/performance.md`. */
export async function writeFigures(name: string, content: string): Promise<void> {
  await writeFile(PERFORMANCE, replaceBlock(await readFile(PERFORMANCE, "utf8"), name, content));
}

/** A picture that `docs/performance.md` shows. */
export async function writeChart(name: string, svg: string): Promise<void> {
  await writeFile(path.join(DOCS, "images", `${name}.svg`), svg);
}
