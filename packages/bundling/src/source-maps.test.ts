import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterEach, beforeEach, expect, it } from "vitest";

/** Its own module, without types. */
const { finishMaps, withMap } = await import(new URL("../bundling.mjs", import.meta.url).href);

const SOURCE = "packages/retry/src/presets.ts";
const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sluice-maps-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

it("the bundler of a package's user looks for none of our sources, which no package has", async () => {
  const outfile = join(folder, "dist/module.js");
  await build({ ...withMap, entryPoints: [join(REPOSITORY, SOURCE)], outfile, bundle: true, format: "esm" });
  finishMaps(folder, [`${outfile}.map`]);
  // It would be found there.
  const place = join(folder, SOURCE);
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, "// looked for");
  const { outputFiles } = await build({
    entryPoints: [outfile],
    outdir: folder,
    bundle: true,
    format: "esm",
    sourcemap: "external",
    write: false,
  });
  const map = outputFiles.find(({ path }) => path.endsWith(".map"));
  const { sources, sourcesContent } = JSON.parse(map?.text ?? "{}");
  expect(sources).toContain(SOURCE);
  expect(new Set(sourcesContent)).toEqual(new Set([""]));
});
