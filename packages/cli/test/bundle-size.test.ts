import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, it } from "vitest";

/** Most bytes that a user's Worker which sends and consumes may gain, minified, by gzip. */
const WORKER_BYTES_MAX = 14_000;
/** The broker without its page. Cloudflare takes 3 MB of a Worker on its free plan. */
const BROKER_BYTES_MAX = 210_000;

it.each([
  [
    "a user's Worker",
    'export { createQueueConsumer, hideBindings, installProducers } from "@sluice/project/runtime/worker";',
    WORKER_BYTES_MAX,
  ],
  ["the broker", 'export { defineBroker } from "@sluice/broker-worker";', BROKER_BYTES_MAX],
])("what is added to %s stays small", async (_, contents, max) => {
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
  // A bound that is far away would not notice anything.
  expect(bytes).toBeGreaterThan(0.9 * max);
});
