// Bundles the broker of `sluice dev` for workerd, page and all, and small: Wrangler runs it as it is. Plain JavaScript,
// as `build.mjs`, which uses it too.
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { forWorkers } from "../bundling/bundling.mjs";
import { bundlePage } from "../dashboard/build.mjs";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

/**
 * The code and its source map, whose paths count from where the code is to be, and what esbuild says of what is in
 * them.
 *
 * @param {string} outfile path of the file that the code is for. Nothing is written.
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

/** The code of the runtime for the users' Workers. */
export async function bundleRuntime() {
  const { outputFiles } = await build({
    ...forWorkers,
    entryPoints: [path("../project/src/runtime/worker.ts")],
    write: false,
  });
  return outputFiles[0].text;
}
