// Builds the page at /__sluice/ into one file, which a broker is given. Plain JavaScript: `npm pack` runs it with
// whatever Node.js the machine has. Nothing of it is committed, and it takes less than 100 ms.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

/** esbuild's target, and with it the oldest browsers that show the page: those of 2023. */
const TARGET = "es2022";

/** The page, as `bundlePage` makes it. */
export async function buildPage() {
  return (await bundlePage()).page;
}

/**
 * The page as an archive: `index.html`, and the script and style that it names, whose names change with what is in
 * them. The same for the same sources.
 *
 * The layout is a contract with `packages/gateway/src/page/page-archive.ts`: four bytes with the length of a header
 * (big-endian), the header (JSON: `files`, each with `name`, `type` and `bytes`), then the files one after the other,
 * each compressed by gzip.
 *
 * @returns {Promise<{ page: Uint8Array, metafile: import("esbuild").Metafile }>} with esbuild's list of its contents.
 */
export async function bundlePage() {
  const { outputFiles, metafile } = await build({
    entryPoints: [path("src/main.tsx")],
    outdir: path("dist"),
    entryNames: "app",
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "iife",
    target: TARGET,
    charset: "utf8",
    jsx: "automatic",
    jsxImportSource: "preact",
    plugins: [lessOfUPlot],
  });
  const [script, style] = [".js", ".css"].map((end) => {
    const { contents } = outputFiles.find((file) => file.path.endsWith(end));
    const hash = createHash("sha256").update(contents).digest("hex").slice(0, 12);
    return { name: `app.${hash}${end}`, contents };
  });
  const files = [
    { name: "index.html", type: "text/html; charset=utf-8", contents: documentOf(script.name, style.name) },
    { ...script, type: "text/javascript; charset=utf-8" },
    { ...style, type: "text/css; charset=utf-8" },
  ].map(({ name, type, contents }) => ({ name, type, compressed: gzipSync(contents, { level: 9 }) }));
  const header = Buffer.from(
    JSON.stringify({
      files: files.map(({ name, type, compressed }) => ({ name, type, bytes: compressed.length })),
    }),
  );
  const length = Buffer.alloc(4);
  length.writeUInt32BE(header.length);
  const page = Buffer.concat([length, header, ...files.map(({ compressed }) => compressed)]);
  return { page, metafile };
}

/**
 * Takes ways to draw lines that no chart uses out of uPlot: its package is one file, so a bundler keeps all of them.
 */
const lessOfUPlot = {
  name: "less-of-uplot",
  setup: ({ onLoad }) => {
    onLoad({ filter: /uPlot\.esm\.js$/ }, ({ path: file }) => {
      const whole = readFileSync(file, "utf8");
      return { contents: whole.replaceAll(/^\t\(paths\.(?:stepped|bars|spline) += \w+\);$/gm, "") };
    });
  },
};

/**
 * The document. Its links are relative, since a proxy may have put a path before `/__sluice/`. It has neither script
 * nor style in it, since the page's policy allows none.
 */
function documentOf(script, style) {
  const queues = "api/queues";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sluice</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${style}">
<script src="${script}" defer></script>
</head>
<body>
<noscript>This page needs JavaScript. The same as JSON: <a href="${queues}">${queues}</a></noscript>
</body>
</html>
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = process.argv[2] ?? path("dist/page.bin");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, await buildPage());
}
