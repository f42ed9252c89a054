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

/** A place in a file, as stack traces have it. Addresses hold no spaces. */
const PLACE = /(file:\/\/\S+?):(\d+):(\d+)/g;

/**
 * Leads the places of stack traces back to the sources that modules were bundled from, as `wrangler dev` does:
 * workerd itself knows nothing of source maps.
 *
 * A map is read when its module first appears in a trace. What no map says anything of is left as it is.
 *
 * @param maps by the address of the module.
 * @returns rewrites one line of a log.
 */
export function stackFrameMapper(maps: ReadonlyMap<string, ModuleMap>): (line: string) => string {
  const sources = new Map<string, SourcePlaces>();
  const sourcesOf = (url: string): SourcePlaces | undefined => {
    const known = sources.get(url);
    const map = known === undefined ? maps.get(url) : undefined;
    if (map === undefined) return known;
    const read = new SourcePlaces(map);
    sources.set(url, read);
    return read;
  };
  return (line) =>
    line.replaceAll(
      PLACE,
      (place, url: string, row: string, column: string) =>
        sourcesOf(url)?.find(Number(row), Number(column)) ?? place,
    );
}

/** Where in its sources each place of a module comes from. */
class SourcePlaces {
  readonly #map: SourceMap | null;
  readonly #folder: string;

  constructor({ text, folder }: ModuleMap) {
    this.#map = parse(text);
    this.#folder = resolve(folder, this.#map?.payload.sourceRoot ?? "");
  }

  /** Both counted from 1. */
  find(row: number, column: number): string | null {
    const found = this.#map?.findEntry(row - 1, column - 1);
    // It finds the last place before, which may be in another line: that says nothing of this one.
    if (found === undefined || !("originalSource" in found) || found.generatedLine !== row - 1) return null;
    const { href } = pathToFileURL(resolve(this.#folder, found.originalSource));
    return `${href}:${found.originalLine + 1}:${found.originalColumn + 1}`;
  }
}

/** `null` for a map that is none: a log line must not fail for it. */
function parse(text: string): SourceMap | null {
  try {
    return new SourceMap(JSON.parse(text));
  } catch {
    return null;
  }
}
