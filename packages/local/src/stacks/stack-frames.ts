import { SourceMap } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** The source map of a module that workerd runs. */
export interface ModuleMap {
  /** The map as JSON. */
  readonly text: string;
  /** Folder that its paths are relative to. Absolute. */
  readonly folder: string;
}

/** Source maps by the URLs of modules. */
export type ModuleMaps = Pick<ReadonlyMap<string, ModuleMap>, "get">;

/** A place in a file; row and column are counted from 1. */
export interface Place {
  /** Absolute path. */
  readonly file: string;
  readonly row: number;
  readonly column: number;
}

/** Finds the place in a source that a place of a module comes from; `null` where no map has it. */
export type FindSource = (url: string, row: number, column: number) => Place | null;

/** Matches a place in a stack trace. Its URL contains neither spaces nor another URL. */
const PLACE = /(file:\/\/(?:(?!file:\/\/)\S)+?):(\d+):(\d+)/g;

/**
 * Maps the places of stack traces to the sources of the bundled modules, as `wrangler dev` does: workerd has no support
 * for source maps. A place that no map has stays as it is.
 *
 * @returns a function that rewrites one line of a log.
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
 * @param maps may return a newer map for the same URL later, which is used then.
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

/** Parsed source map of a module. */
class SourcePlaces {
  readonly #map: SourceMap | null;
  readonly #folder: string;

  constructor({ text, folder }: ModuleMap) {
    this.#map = parse(text);
    this.#folder = resolve(folder, this.#map?.payload.sourceRoot ?? "");
  }

  find(row: number, column: number): Place | null {
    const found = this.#map?.findEntry(row - 1, column - 1);
    // `findEntry` returns the last entry before the place. One of another line does not map this place.
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

/** Parses a source map; `null` for an invalid one, which must not make a log line fail. */
function parse(text: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(text));
  } catch {
    return null;
  }
}
