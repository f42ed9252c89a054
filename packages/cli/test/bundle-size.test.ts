import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, it } from "vitest";

/** Most bytes that a user's Worker which sends and consumes may gain, minified, by gzip. */
const WORKER_BYTES_MAX = 14_000;
/** The broker without its page. Cloudflare takes 3 MB of a Worker on its free plan. */
const BROKER_BYTES_MAX = 210_000;

const runtime = fileURLToPath(new URL("../src/runtime", import.meta.url));

it.each([
  [
    "a user's Worker",
    'export { createQueueConsumer, hideBindings, installProducers } from "./worker.ts";',
    WORKER_BYTES_MAX,
  ],
  ["the broker", 'export { defineBroker } from "./broker.ts";', BROKER_BYTES_MAX],
])("what is added to %s stays small", async (_, contents, max) => {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: runtime, loader: "ts" },
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
