import { createRequire } from "node:module";
import path from "node:path";
import { startDevServer, WORKER } from "./dev-server.ts";
import type { System } from "./system.ts";

const WRANGLER = path.resolve(
  path.dirname(createRequire(import.meta.url).resolve("wrangler/package.json")),
  "bin/wrangler.js",
);

/** The same Worker under plain `wrangler dev`: Miniflare keeps messages in memory. */
export const miniflare: System = {
  id: "miniflare",
  name: "Miniflare (wrangler dev)",
  acknowledged: "memory",
  clockMs: 1,
  how: "sendBatch(100); queue() with batches of 100",
  install: async () => {},
  start: () =>
    startDevServer("miniflare", ({ port, folder }) => [
      WRANGLER,
      "dev",
      "--config",
      path.join(WORKER, "wrangler.toml"),
      "--port",
      String(port),
      "--persist-to",
      path.join(folder, "state"),
    ]),
};
