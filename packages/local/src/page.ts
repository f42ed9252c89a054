import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { PAGE_FILE } from "@sluice/project/names";

let archive: Promise<Uint8Array> | null = null;

/** Returns the page at `/__sluice/` as an archive: of the package, or built once when the command runs from source. */
export function pageArchive(): Promise<Uint8Array> {
  archive ??= readPage();
  return archive;
}

async function readPage(): Promise<Uint8Array> {
  const packed = fileURLToPath(new URL(`./${PAGE_FILE}`, import.meta.url));
  if (existsSync(packed)) return readFileSync(packed);
  const { buildPage } = (await import(import.meta.resolve("@sluice/dashboard/build"))) as {
    buildPage(): Promise<Uint8Array>;
  };
  return buildPage();
}
