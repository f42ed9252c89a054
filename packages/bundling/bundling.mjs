// What the builds of the published packages have in common. Plain JavaScript: `pnpm pack` runs it with whatever Node.js
// the machine has.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { decode, encode } from "@jridgewell/sourcemap-codec";

// jsonc-parser's "main" is a UMD module, whose requires no bundler sees.
const mainFields = ["module", "main"];

/** With these, stack traces lead to our sources. Places are all that takes. */
export const withMap = { sourcemap: true, sourcesContent: false };

/** esbuild's options for modules that users' Node.js runs. What is not `external` is bundled. */
export const forNode = {
  ...withMap,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node22.16",
  mainFields,
  metafile: true,
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
  external: ["cloudflare:*"],
};

/**
 * Makes source maps fit for an archive. They keep one place for each line of our sources, without its column: a fifth of
 * the bytes, and stack traces name file and line as before. Sources are called as the repository calls them, seen from the package: where
 * that is installed they are not.
 *
 * @param {string} folder of the package.
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
    writeFileSync(file, JSON.stringify(map));
  }
}

/** Those of a line's segments that lead to another line of a source than the one before. */
function placesOfLines(segments, isOurs) {
  let last = [];
  return segments.flatMap(([column, source, line]) => {
    const place = isOurs[source] === true ? [source, line, 0] : [];
    if (place[0] === last[0] && place[1] === last[1]) return [];
    last = place;
    return [[column, ...place]];
  });
}

/** The source maps that builds have written. */
export function mapsOf(metafiles) {
  return metafiles.flatMap(({ outputs }) => Object.keys(outputs)).filter((file) => file.endsWith(".map"));
}

/**
 * Writes the types of what a package exports into `dist/types`. Its declarations say all their types: none of what
 * they come from has to be read, or to be there for users.
 *
 * @param {string} sources the package's `src` folder.
 * @param {string} folder its `dist` folder.
 * @param {readonly string[]} files modules that are exported, and those whose types they name; paths within `sources`.
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
    // An import of nothing has no types, and is in the bundle already.
    writeFileSync(types, readFileSync(types, "utf8").replaceAll(/^import "[^"]+";\n/gm, ""));
  }
}
