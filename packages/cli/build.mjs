// Bundles the command and its modules for Workers into dist/, or the folder that is named, so that the package needs no
// other package of the workspace. Plain JavaScript: `npm pack` runs it with any Node.js that the machine has.
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { finishMaps, forNode, forWorkers, mapsOf, withMap, writeTypes } from "../bundling/bundling.mjs";
import { writeNotices } from "../bundling/third-party-notices.mjs";
import { buildPage } from "../dashboard/build.mjs";
import { bundleBroker } from "../local/bundle-broker.mjs";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

const folder = path(process.argv[2] ?? "dist");
rmSync(folder, { recursive: true, force: true });

const command = await build({
  ...forNode,
  entryPoints: [path("src/main.ts"), path("src/index.ts")],
  outdir: folder,
  // One file per command, loaded when the command runs: `sluice --help` should not wait for Wrangler.
  splitting: true,
  // Dependencies in package.json stay dependencies. The workspace's packages and their dependencies are bundled.
  external: ["@bomb.sh/tab", "cli-progress", "commander", "croner", "yaml"],
});
chmodSync(join(folder, "main.js"), 0o755);
writeFileSync(join(folder, "page.bin"), await buildPage());

// Modules that run in Wrangler's process.
const inside = await build({
  ...forNode,
  entryPoints: {
    "dev/inside/main": path("../local/src/dev/inside/main.ts"),
    "wrangler/host": path("../project/src/wrangler/host.ts"),
  },
  outdir: folder,
});

const runtime = await build({
  ...forWorkers,
  entryPoints: {
    worker: path("../project/src/runtime/worker.ts"),
    broker: path("../broker-worker/src/define-broker.ts"),
    trace: path("../project/src/runtime/trace.ts"),
  },
  outdir: join(folder, "runtime"),
  // Wrangler bundles these into Workers, whose stack traces should lead to our sources.
  ...withMap,
});

const ready = join(folder, "runtime/broker-ready.js");
const broker = await bundleBroker(ready);
writeFileSync(ready, broker.code);
writeFileSync(`${ready}.map`, broker.map);

const standalone = await build({
  ...forNode,
  entryPoints: [path("../local/src/node/broker.ts"), path("../local/src/node/recovery.ts")],
  outdir: join(folder, "standalone"),
  plugins: [
    {
      name: "platform",
      setup({ onResolve }) {
        onResolve({ filter: /^cloudflare:workers$/ }, () => ({ path: path("../objects/src/workers.ts") }));
      },
    },
  ],
});

const metafiles = [command, inside, runtime, standalone].map(({ metafile }) => metafile);
finishMaps(dirname(folder), [...mapsOf(metafiles), `${ready}.map`]);
writeNotices(folder, [...metafiles, ...broker.metafiles]);

writeTypes(path("../local/src"), folder, [
  "index.ts",
  "miniflare/options.ts",
  "miniflare/sluice-workers.ts",
  "platform-proxy/get-platform-proxy.ts",
]);
writeTypes(path("../project/src/runtime"), folder, ["trace.ts"]);
