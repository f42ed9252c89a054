// @module-tag slow
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, it } from "vitest";

/** Most bytes, minified and gzipped, that Sluice may add to a user's Worker which sends and consumes. */
const WORKER_BYTES_MAX = 21_600;
/** Limit for the broker without its page. Cloudflare allows 3 MB on its free plan. */
const BROKER_BYTES_MAX = 299_000;

it.each([
  [
    "a user's Worker",
    'export { createQueueConsumer, hideBindings, installProducers } from "@sluice/project/runtime/worker";',
    WORKER_BYTES_MAX,
  ],
  ["the broker", 'export { defineBroker } from "@sluice/broker-worker";', BROKER_BYTES_MAX],
])("the code that Sluice adds to %s stays small", async (_, contents, max) => {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname, loader: "ts" },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    mainFields: ["module", "main"],
    external: ["cloudflare:*", "node:*"],
  });
  const bytes = gzipSync(outputFiles[0]?.contents ?? "").length;
  expect(bytes).toBeLessThanOrEqual(max);
  // A bound far above the size would notice nothing.
  expect(bytes).toBeGreaterThan(0.9 * max);
});
