import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ARCHIVES_VARIABLE } from "./pack.ts";

/** Keeps what is packed for a whole run of the tests: to pack a package takes five seconds, and twenty projects install
 * one. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "sluice-archives-"));
  process.env[ARCHIVES_VARIABLE] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
