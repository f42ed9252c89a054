import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/*
 * Which page of a database file is what, read from the file itself (https://sqlite.org/fileformat2.html): so that a
 * test can damage the one that it means.
 */

const LEAF = 13;
const INTERIOR = 5;

export type PageKind = "leaf" | "overflow" | "trunk";

/** Numbers of pages of a table, or of the list of free pages (`freelist`), in ascending order. */
export function pagesOf(file: string, table: string, kind: PageKind): number[] {
  const bytes = readFileSync(file);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const pageSize = view.getUint16(16) === 1 ? 65_536 : view.getUint16(16);
  const found: number[] = [];
  if (kind === "trunk") {
    for (let page = view.getUint32(32); page !== 0; page = view.getUint32((page - 1) * pageSize))
      found.push(page);
    return found.sort((a, b) => a - b);
  }
  const leaves: number[] = [];
  const visit = (page: number) => {
    const at = (page - 1) * pageSize;
    const type = view.getUint8(at);
    if (type === LEAF) leaves.push(page);
    if (type !== INTERIOR) return;
    const cells = view.getUint16(at + 3);
    for (let i = 0; i < cells; i++) visit(view.getUint32(at + view.getUint16(at + 12 + 2 * i)));
    visit(view.getUint32(at + 8));
  };
  visit(rootOf(file, table));
  if (kind === "leaf") return leaves.sort((a, b) => a - b);
  for (const leaf of leaves) found.push(...overflowOf(view, leaf, pageSize));
  return found.sort((a, b) => a - b);
}

/** Fills a page with bytes that it never had. */
export function overwritePage(file: string, page: number): void {
  const pageSize = readFileSync(file).readUInt16BE(16);
  const handle = openSync(file, "r+");
  writeSync(handle, Buffer.alloc(pageSize, 0x55), 0, pageSize, (page - 1) * pageSize);
  closeSync(handle);
}

function rootOf(file: string, table: string): number {
  const database = new DatabaseSync(file);
  const row = database.prepare("SELECT rootpage FROM sqlite_master WHERE name = ?").get(table);
  database.close();
  return Number(row?.rootpage);
}

/** Pages that the rows of a leaf go on in. */
function overflowOf(view: DataView, leaf: number, pageSize: number): number[] {
  const at = (leaf - 1) * pageSize;
  const pages: number[] = [];
  for (let i = 0; i < view.getUint16(at + 3); i++) {
    const cell = at + view.getUint16(at + 8 + 2 * i);
    const [length, afterLength] = varint(view, cell);
    const [, content] = varint(view, afterLength);
    const largest = pageSize - 35;
    if (length <= largest) continue;
    const least = Math.floor(((pageSize - 12) * 32) / 255) - 23;
    const kept = least + ((length - least) % (pageSize - 4));
    const first = view.getUint32(content + (kept <= largest ? kept : least));
    for (let page = first; page !== 0; page = view.getUint32((page - 1) * pageSize)) pages.push(page);
  }
  return pages;
}

function varint(view: DataView, at: number): [value: number, next: number] {
  let value = 0;
  for (let i = 0; i < 8; i++) {
    const byte = view.getUint8(at + i);
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return [value, at + i + 1];
  }
  return [value * 256 + view.getUint8(at + 8), at + 9];
}
