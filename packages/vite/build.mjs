// Bundles the configuration and its modules for Workers into dist/, with the types of its exports, so that the package
// needs no other package of the workspace. Plain JavaScript, because `pnpm pack` runs it with any Node.js.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { finishMaps, forNode, forWorkers, mapsOf, writeTypes } from "../bundling/bundling.mjs";
import { writeNotices } from "../bundling/third-party-notices.mjs";
import { bundlePage } from "../dashboard/build.mjs";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

const folder = path("dist");
rmSync(folder, { recursive: true, force: true });

const plugin = await build({
  ...forNode,
  entryPoints: [path("src/index.ts"), path("src/converter.ts")],
  outdir: folder,
  // Only values of Wrangler's that Cloudflare's plugin passes are used.
  external: ["wrangler", "esbuild", "yaml", "@cloudflare/vite-plugin"],
  // Packages of CommonJS require Node's own modules.
  banner: {
    js: [
      'import { createRequire as __createRequire } from "node:module";',
      "const require = __createRequire(import.meta.url);",
    ].join("\n"),
  },
});
const { page, metafile: pageMetafile } = await bundlePage();
writeFileSync(join(folder, "page.bin"), page);

// Empty source map, which Vite uses for its transformed code. Its own map would be three times the size of the code,
// and go to workerd at each start.
const map = Buffer.from(JSON.stringify({ version: 3, sources: [], names: [], mappings: "" })).toString(
  "base64",
);

const workers = await build({
  ...forWorkers,
  entryPoints: [path("src/worker/worker.ts"), path("src/worker/broker.ts")],
  outdir: join(folder, "worker"),
  // Vite transforms everything that it runs, at each start.
  minify: true,
  footer: { js: `//# sourceMappingURL=data:application/json;base64,${map}` },
});

const metafiles = [plugin.metafile, workers.metafile];
finishMaps(path("."), mapsOf(metafiles));
writeNotices(folder, [...metafiles, pageMetafile]);

writeTypes(path("src"), folder, ["index.ts", "sluice.ts"]);
