// Bundles the command and its modules for Workers into dist/, or another folder that is named, so that the package
// needs none of the workspace's others. Plain JavaScript: `npm pack` runs it with whatever Node.js the machine has.
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { buildPage } from "../dashboard/build.mjs";
import { bundleBroker } from "./bundle-broker.mjs";
import { forNode, forWorkers, writeTypes } from "./bundling.mjs";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

const folder = path(process.argv[2] ?? "dist");
rmSync(folder, { recursive: true, force: true });

await build({
  ...forNode,
  entryPoints: [path("src/main.ts"), path("src/index.ts")],
  outdir: folder,
  // One file per command, loaded when it is asked for: `sluice --help` should not wait for Wrangler.
  splitting: true,
  // What package.json declares stays a dependency; the workspace's own packages, and what those need, are bundled.
  external: ["@bomb.sh/tab", "cli-progress", "commander", "croner", "yaml"],
});
chmodSync(join(folder, "main.js"), 0o755);
writeFileSync(join(folder, "page.bin"), await buildPage());

// What runs in Wrangler's process, by itself: it is loaded before Wrangler is.
await build({
  ...forNode,
  entryPoints: [path("src/dev/inside/main.ts"), path("src/wrangler/host.ts")],
  outbase: path("src"),
  outdir: folder,
});

const runtime = await build({
  ...forWorkers,
  entryPoints: [path("src/runtime/worker.ts"), path("src/runtime/broker.ts")],
  outdir: join(folder, "runtime"),
  // Wrangler's bundles are made of these: their stack traces shall lead to our sources. Places are all that takes.
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
});

const ready = join(folder, "runtime/broker-ready.js");
const { code, map } = await bundleBroker(ready);
writeFileSync(ready, code);
writeFileSync(`${ready}.map`, map);

const standalone = await build({
  ...forNode,
  entryPoints: [path("src/serve/standalone/broker.ts"), path("src/serve/standalone/recovery.ts")],
  outdir: join(folder, "standalone"),
  plugins: [
    {
      name: "platform",
      setup({ onResolve }) {
        onResolve({ filter: /^cloudflare:workers$/ }, () => ({ path: path("../objects/src/workers.ts") }));
      },
    },
  ],
  sourcemap: true,
  sourcesContent: false,
  metafile: true,
});

// Where the package is installed our sources are not: they are called as the repository calls them, seen from the
// package.
const repository = path("../..");
const outputs = [runtime, standalone].flatMap(({ metafile }) => Object.keys(metafile.outputs));
outputs.push(`${ready}.map`);
for (const file of outputs.filter((name) => name.endsWith(".map"))) {
  const map = JSON.parse(readFileSync(file, "utf8"));
  const its = dirname(resolve(file));
  const named = (source) => relative(repository, resolve(its, source));
  map.sources = map.sources.map((source) => relative(its, join(path("."), named(source))));
  writeFileSync(file, JSON.stringify(map));
}

writeTypes(path("src"), folder, [
  "index.ts",
  "miniflare/options.ts",
  "miniflare/sluice-workers.ts",
  "platform-proxy/get-platform-proxy.ts",
]);
