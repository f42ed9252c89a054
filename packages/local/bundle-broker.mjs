// Bundles the broker of `sluice dev` for workerd, with the dashboard's page, minified: Wrangler runs it as it is. Plain
// JavaScript, since `build.mjs` uses it too.
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { forWorkers } from "../bundling/bundling.mjs";
import { bundlePage } from "../dashboard/build.mjs";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

/**
 * Bundles the broker. Returns the code, its source map and esbuild's metafiles, and writes nothing.
 *
 * @param {string} outfile path that the code will be written to: the source map's paths are relative to it.
 */
export async function bundleBroker(outfile) {
  const { page, metafile: pageMetafile } = await bundlePage();
  const { outputFiles, metafile } = await build({
    ...forWorkers,
    entryPoints: [path("../broker-worker/src/broker-ready.ts")],
    outfile,
    write: false,
    minify: true,
    sourcemap: "external",
    sourcesContent: false,
    plugins: [
      {
        name: "page",
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^sluice:page$/ }, () => ({ path: "page", namespace: "sluice" }));
          onLoad({ filter: /./, namespace: "sluice" }, () => ({ contents: page, loader: "binary" }));
        },
      },
    ],
  });
  const [code = "", map = ""] = outputFiles
    .sort((a, b) => a.path.length - b.path.length)
    .map(({ text }) => text);
  return { code, map, metafiles: [metafile, pageMetafile] };
}

/** Returns the code of the runtime for the users' Workers. */
export async function bundleRuntime() {
  const { outputFiles } = await build({
    ...forWorkers,
    entryPoints: [path("../project/src/runtime/worker.ts")],
    write: false,
  });
  return outputFiles[0].text;
}
