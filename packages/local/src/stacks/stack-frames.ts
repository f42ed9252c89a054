import { SourceMap } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** The source map of a module that workerd runs. */
export interface ModuleMap {
  /** As bundlers write it: JSON. */
  readonly text: string;
  /** Folder that the paths in it count from. Absolute. */
  readonly folder: string;
}

/** Source maps by the addresses of modules. */
export type ModuleMaps = Pick<ReadonlyMap<string, ModuleMap>, "get">;

/** A place in a file; row and column are counted from 1. */
export interface Place {
  /** Absolute path. */
  readonly file: string;
  readonly row: number;
  readonly column: number;
}

/** Finds the place in a source that a place of a module comes from; `null` where no map says anything of it. */
export type FindSource = (url: string, row: number, column: number) => Place | null;

/** A place in a file, as stack traces have it. Addresses hold no spaces, and no other address. */
const PLACE = /(file:\/\/(?:(?!file:\/\/)\S)+?):(\d+):(\d+)/g;

/**
 * Leads the places of stack traces back to the sources that modules were bundled from, as `wrangler dev` does:
 * workerd itself knows nothing of source maps. What no map says anything of is left as it is.
 *
 * @param maps by the address of the module.
 * @returns rewrites one line of a log.
 */
export function stackFrameMapper(maps: ModuleMaps): (line: string) => string {
  const find = sourceFinder(maps);
  return (line) =>
    line.replaceAll(PLACE, (place, url: string, row: string, column: string) => {
      const found = find(url, Number(row), Number(column));
      return found === null ? place : `${pathToFileURL(found.file).href}:${found.row}:${found.column}`;
    });
}

/**
 * Finds sources by source maps. A map is read when its module first appears in a trace.
 *
 * @param maps may answer with another map for the same address later: that one is read then.
 */
export function sourceFinder(maps: ModuleMaps): FindSource {
  const sources = new WeakMap<ModuleMap, SourcePlaces>();
  return (url, row, column) => {
    const map = maps.get(url);
    if (map === undefined) return null;
    const places = sources.get(map) ?? new SourcePlaces(map);
    sources.set(map, places);
    return places.find(row, column);
  };
}

/** Where in its sources each place of a module comes from. */
class SourcePlaces {
  readonly #map: SourceMap | null;
  readonly #folder: string;

  constructor({ text, folder }: ModuleMap) {
    this.#map = parse(text);
    this.#folder = resolve(folder, this.#map?.payload.sourceRoot ?? "");
  }

  find(row: number, column: number): Place | null {
    const found = this.#map?.findEntry(row - 1, column - 1);
    // It finds the last place before, which may be in another line: that says nothing of this one.
    if (found === undefined || !("originalSource" in found) || found.generatedLine !== row - 1) return null;
    const file = resolve(this.#folder, found.originalSource);
    return { file, row: found.originalLine + 1, column: found.originalColumn + 1 };
  }
}

/** Lists the sources that a module was bundled from. Absolute paths. */
export function sourcesOf({ text, folder }: ModuleMap): string[] {
  const payload = parse(text)?.payload;
  return (payload?.sources ?? []).map((source) => resolve(folder, payload?.sourceRoot ?? "", source));
}

/** `null` for a map that is none: a log line must not fail for it. */
function parse(text: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(text));
  } catch {
    return null;
  }
}
