// Build options shared by the published packages. Plain JavaScript, because `pnpm pack` runs it with any Node.js.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { decode, encode } from "@jridgewell/sourcemap-codec";

// jsonc-parser's "main" is a UMD module, whose `require` calls a bundler cannot follow.
const mainFields = ["module", "main"];

/** Makes stack traces lead to our sources. For that, source maps need no contents of the sources. */
export const withMap = { sourcemap: true, sourcesContent: false };

const { version } = JSON.parse(readFileSync(new URL("../cli/package.json", import.meta.url), "utf8"));
/** Version that all published packages have. */
const define = { SLUICE_RELEASE: JSON.stringify(version) };

/** esbuild's options for modules that run in users' Node.js. Modules that are not `external` are bundled. */
export const forNode = {
  ...withMap,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node22.16",
  mainFields,
  metafile: true,
  define,
  // Names stay, for stack traces without a map.
  minifyWhitespace: true,
  minifySyntax: true,
};

/** esbuild's options for modules that run in workerd. */
export const forWorkers = {
  bundle: true,
  format: "esm",
  platform: "neutral",
  target: "es2024",
  mainFields,
  metafile: true,
  define,
  external: ["cloudflare:*"],
};

/**
 * Shrinks source maps for an archive. They keep one place for each line of our sources, without its column: a fifth of
 * the bytes, and stack traces name file and line as before. The paths of sources are those in the repository, relative
 * to the package; an installed package does not contain the sources. The contents of the sources are empty texts: for
 * absent ones Wrangler's esbuild would watch a hundred files, and see a saved file 0.1 s later.
 *
 * @param {string} folder folder of the package.
 * @param {readonly string[]} maps files of source maps, whose sources are relative to them.
 */
export function finishMaps(folder, maps) {
  const repository = fileURLToPath(new URL("../..", import.meta.url));
  for (const file of maps) {
    const map = JSON.parse(readFileSync(file, "utf8"));
    const its = dirname(resolve(file));
    const named = (source) => relative(repository, resolve(its, source));
    const isOurs = map.sources.map((source) => !source.includes("/node_modules/"));
    map.sources = map.sources.map((source) => relative(its, join(folder, named(source))));
    map.mappings = encode(decode(map.mappings).map((segments) => placesOfLines(segments, isOurs)));
    map.names = [];
    map.sourcesContent = map.sources.map(() => "");
    writeFileSync(file, JSON.stringify(map));
  }
}

/** Picks the segments of a line that lead to another source line than the segment before. */
function placesOfLines(segments, isOurs) {
  let last = [];
  return segments.flatMap(([column, source, line]) => {
    const place = isOurs[source] === true ? [source, line, 0] : [];
    if (place[0] === last[0] && place[1] === last[1]) return [];
    last = place;
    return [[column, ...place]];
  });
}

/** Lists the source maps of builds. */
export function mapsOf(metafiles) {
  return metafiles.flatMap(({ outputs }) => Object.keys(outputs)).filter((file) => file.endsWith(".map"));
}

/**
 * Writes the types of a package's exports into `dist/types`. The declarations contain all their types, so no other file
 * has to be read, or to be installed.
 *
 * @param {string} sources the package's `src` folder.
 * @param {string} folder its `dist` folder.
 * @param {readonly string[]} files exported modules, and those whose types they name; paths within `sources`.
 */
export function writeTypes(sources, folder, files) {
  const tsc = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
  const flags = [
    ...["--ignoreConfig", "--noResolve", "--noCheck", "--isolatedDeclarations"],
    ...["--declaration", "--emitDeclarationOnly", "--allowImportingTsExtensions", "--verbatimModuleSyntax"],
    ...["--module", "esnext", "--moduleResolution", "bundler", "--target", "es2024"],
    ...["--rootDir", sources, "--outDir", join(folder, "types")],
  ];
  execFileSync(process.execPath, [tsc, ...flags, ...files.map((file) => join(sources, file))], {
    stdio: "inherit",
  });
  for (const file of files) {
    const types = join(folder, "types", file.replace(/\.ts$/, ".d.ts"));
    // An import for side effects has no types, and its module is in the bundle.
    const text = readFileSync(types, "utf8").replaceAll(/^import "[^"]+";\n/gm, "");
    for (const [, path] of text.matchAll(/(?:from |import\()"(\.[^"]+)"/g)) {
      const imported = relative(sources, resolve(sources, dirname(file), path));
      if (!files.includes(imported)) throw new Error(`${file} has types of ${imported}: pack these too`);
    }
    writeFileSync(types, text);
  }
}
