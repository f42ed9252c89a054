// Bundles the test kit and its modules for Workers into dist/, with the types of its exports, so that the package needs
// no other package of the workspace. Plain JavaScript, because `pnpm pack` runs it with any Node.js.
import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { finishMaps, forNode, forWorkers, mapsOf, writeTypes } from "../bundling/bundling.mjs";
import { writeNotices } from "../bundling/third-party-notices.mjs";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

const folder = path("dist");
rmSync(folder, { recursive: true, force: true });

const kit = await build({
  ...forNode,
  entryPoints: { index: path("src/index.ts"), vitest: path("src/vitest/sluice.ts") },
  outdir: folder,
  // The modules that start a runtime are loaded after the compile cache is on.
  splitting: true,
  // Dependencies of package.json stay outside; packages of the workspace, and theirs, are bundled.
  external: ["croner", "wrangler", "yaml"],
});

const workers = await build({
  ...forWorkers,
  entryPoints: [path("src/worker/worker.ts"), path("src/worker/broker.ts")],
  outdir: join(folder, "worker"),
  external: [...forWorkers.external, "node:async_hooks"],
  // workerd runs this bundle of the broker unchanged.
  minify: true,
});
const inWorker = await build({
  ...forWorkers,
  entryPoints: [path("src/vitest/in-worker.ts")],
  outdir: folder,
  external: ["cloudflare:*", "node:*"],
});
const metafiles = [kit, workers, inWorker].map(({ metafile }) => metafile);
finishMaps(path("."), mapsOf(metafiles));
writeNotices(folder, metafiles);
for (const file of ["host.js", "control.js"]) {
  copyFileSync(path(`src/worker/${file}`), join(folder, "worker", file));
}

writeTypes(path("src"), folder, [
  "index.ts",
  "api.ts",
  "runtime/create-runtime.ts",
  "explore/explore.ts",
  "explore/explore-options.ts",
  "explore/random.ts",
  "explore/shrink.ts",
  "vitest/in-worker.ts",
  "vitest/options.ts",
  "vitest/sluice.ts",
]);
