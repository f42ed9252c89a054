import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { ModuleMap, ModuleMaps } from "./stack-frames.ts";

/** Most maps that are kept. A further one replaces the least recently used one. */
export const MAPS_KEPT_MAX = 16;

/** Largest map that is read, in bytes. */
export const MAP_BYTES_MAX = 50_000_000;

interface ReadMap {
  readonly writtenMs: number;
  readonly map: ModuleMap;
}

/**
 * Reads the source maps that Wrangler writes beside its bundles, again when they are newer. A handler may put any URL
 * into a stack trace, so only regular files of this machine and of limited size are read.
 */
export class MapsOnDisk implements ModuleMaps {
  /** Maps by file; the most recently used is the last. */
  readonly #read = new Map<string, ReadMap>();

  get(url: string): ModuleMap | undefined {
    try {
      const address = new URL(url);
      if (address.protocol !== "file:" || address.host !== "") return undefined;
      // `fileURLToPath` drops the query and the fragment.
      const file = `${fileURLToPath(address)}.map`;
      const stats = statSync(file);
      if (!stats.isFile() || stats.size > MAP_BYTES_MAX) return undefined;
      return this.#kept(file, stats.mtimeMs);
    } catch {
      // There is no map.
      return undefined;
    }
  }

  #kept(file: string, writtenMs: number): ModuleMap {
    const known = this.#read.get(file);
    this.#read.delete(file);
    const map =
      known?.writtenMs === writtenMs
        ? known.map
        : { text: readFileSync(file, "utf8"), folder: dirname(file) };
    this.#read.set(file, { writtenMs, map });
    const [oldest] = this.#read.keys();
    if (this.#read.size > MAPS_KEPT_MAX && oldest !== undefined) this.#read.delete(oldest);
    return map;
  }
}
