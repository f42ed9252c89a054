import path from "node:path";
import { fileURLToPath } from "node:url";
import { startDevServer } from "./dev-server.ts";
import type { System } from "./system.ts";

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../..");
const WORKER = path.join(ROOT, "apps/bench/worker");

/** The bench Worker under `sluice dev`: every message is committed to SQLite before its send is answered. */
export const sluice: System = {
  name: "Sluice",
  acknowledged: "commit",
  start: () =>
    startDevServer((port, persistDir) => [
      process.execPath,
      path.join(ROOT, "packages/cli/src/main.ts"),
      "dev",
      WORKER,
      "--port",
      String(port),
      "--persist-to",
      persistDir,
    ]),
};

/** The same Worker under plain `wrangler dev`: Miniflare keeps messages in memory. */
export const miniflare: System = {
  name: "Miniflare (wrangler dev)",
  acknowledged: "memory",
  start: () =>
    startDevServer((port, persistDir) => [
      process.execPath,
      path.join(ROOT, "apps/bench/node_modules/wrangler/bin/wrangler.js"),
      "dev",
      "-c",
      path.join(WORKER, "wrangler.toml"),
      "--port",
      String(port),
      "--persist-to",
      persistDir,
    ]),
};

export const SYSTEMS: readonly System[] = [sluice, miniflare];
