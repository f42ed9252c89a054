// Bundles the test kit and its modules for Workers into dist/, with the types of what it exports, so that the package
// needs none of the workspace's others. Plain JavaScript: `pnpm pack` runs it with whatever Node.js the machine has.
import { execFileSync } from "node:child_process";
import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));

const folder = path("dist");
rmSync(folder, { recursive: true, force: true });

await build({
  entryPoints: { index: path("src/index.ts"), vitest: path("src/vitest/sluice.ts") },
  outdir: folder,
  bundle: true,
  // What starts a runtime is loaded when there is a cache for what is compiled.
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node22.16",
  // jsonc-parser's "main" is a UMD module, whose requires no bundler sees.
  mainFields: ["module", "main"],
  // What package.json declares stays a dependency; the workspace's own packages, and what those need, are bundled.
  external: ["croner", "wrangler", "yaml"],
});

await build({
  entryPoints: [path("src/worker/worker.ts"), path("src/worker/broker.ts")],
  outdir: join(folder, "worker"),
  bundle: true,
  format: "esm",
  platform: "neutral",
  mainFields: ["module", "main"],
  target: "es2024",
  external: ["cloudflare:*"],
  // The broker is given to workerd as it is here.
  minify: true,
});
await build({
  entryPoints: [path("src/vitest/in-worker.ts")],
  outdir: folder,
  bundle: true,
  format: "esm",
  platform: "neutral",
  mainFields: ["module", "main"],
  target: "es2024",
  external: ["cloudflare:*", "node:*"],
});
copyFileSync(path("src/worker/reset.js"), join(folder, "worker/reset.js"));

// Declarations say all their types: none of what they come from has to be read, or to be there for users.
const exported = [
  "index.ts",
  "api.ts",
  "runtime/create-runtime.ts",
  "explore/explore.ts",
  "explore/random.ts",
  "explore/shrink.ts",
  "vitest/in-worker.ts",
  "vitest/options.ts",
  "vitest/sluice.ts",
];
execFileSync(
  process.execPath,
  [
    ...[path("../../node_modules/typescript/bin/tsc"), "--ignoreConfig", "--noResolve", "--noCheck"],
    ...["--isolatedDeclarations", "--declaration", "--emitDeclarationOnly", "--allowImportingTsExtensions"],
    ...[
      "--module",
      "esnext",
      "--moduleResolution",
      "bundler",
      "--target",
      "es2024",
      "--verbatimModuleSyntax",
    ],
    ...["--rootDir", path("src"), "--outDir", join(folder, "types")],
    ...exported.map((file) => path(`src/${file}`)),
  ],
  { stdio: "inherit" },
);
