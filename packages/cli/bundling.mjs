// What the builds of the published packages have in common. Plain JavaScript: `pnpm pack` runs it with whatever Node.js
// the machine has.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

// jsonc-parser's "main" is a UMD module, whose requires no bundler sees.
const mainFields = ["module", "main"];

/** esbuild's options for modules that users' Node.js runs. What is not `external` is bundled. */
export const forNode = { bundle: true, format: "esm", platform: "node", target: "node22.16", mainFields };

/** esbuild's options for modules that run in workerd. */
export const forWorkers = {
  ...{ bundle: true, format: "esm", platform: "neutral", target: "es2024", mainFields },
  external: ["cloudflare:*"],
};

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
