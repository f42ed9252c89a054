import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { ModuleMap, ModuleMaps } from "./stack-frames.ts";

interface ReadMap {
  readonly writtenMs: number;
  readonly map: ModuleMap;
}

/** The source maps that Wrangler writes beside its bundles. A map is read again when it was written anew. */
export class MapsOnDisk implements ModuleMaps {
  readonly #read = new Map<string, ReadMap>();

  get(url: string): ModuleMap | undefined {
    try {
      const file = `${fileURLToPath(url)}.map`;
      const { mtimeMs: writtenMs } = statSync(file);
      const known = this.#read.get(url);
      if (known?.writtenMs === writtenMs) return known.map;
      const map = { text: readFileSync(file, "utf8"), folder: dirname(file) };
      this.#read.set(url, { writtenMs, map });
      return map;
    } catch {
      // There is none.
      return undefined;
    }
  }
}
