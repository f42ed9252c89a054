import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { read } from "./world.ts";

/**
 * Fills the last but one of a table's leaf pages with bytes that it never had (https://sqlite.org/fileformat2.html).
 */
export function overwriteLeaf(file: string, table: string): void {
  const [root] = read(file, `SELECT rootpage FROM sqlite_master WHERE name = '${table}'`);
  const bytes = readFileSync(file);
  const pageSize = bytes.readUInt16BE(16);
  const at = (Number(root?.rootpage) - 1) * pageSize;
  // An inner page: its cells begin with the numbers of the pages below it.
  const cells = bytes.readUInt16BE(at + 3);
  const leaf = bytes.readUInt32BE(at + bytes.readUInt16BE(at + 12 + 2 * (cells - 1)));
  const handle = openSync(file, "r+");
  writeSync(handle, Buffer.alloc(pageSize, 0x55), 0, pageSize, (leaf - 1) * pageSize);
  closeSync(handle);
}
