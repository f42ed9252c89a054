import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startDevServer, WORKER } from "./dev-server.ts";
import type { System } from "./system.ts";

/** The command from source. */
export const SLUICE_CLI = path.resolve(
  path.dirname(fileURLToPath(import.meta.url)),
  "../../../../packages/cli/src/main.ts",
);
const WRANGLER = path.resolve(
  path.dirname(createRequire(import.meta.url).resolve("wrangler/package.json")),
  "bin/wrangler.js",
);

/** The bench Worker under `sluice dev`: a send is answered when its message is in SQLite and synced. */
export const sluice = devServer("sluice", "Sluice (sluice dev)", "commit", [SLUICE_CLI, "dev", WORKER]);

/** The same Worker under plain `wrangler dev`: Miniflare keeps messages in memory. */
export const miniflare = devServer("miniflare", "Miniflare (wrangler dev)", "memory", [
  ...[WRANGLER, "dev", "--config", path.join(WORKER, "wrangler.toml")],
]);

function devServer(
  id: string,
  name: string,
  acknowledged: System["acknowledged"],
  args: readonly string[],
): System {
  return {
    id,
    name,
    acknowledged,
    clockMs: 1,
    how: "sendBatch(100); queue() with batches of 100",
    install: async () => {},
    start: () =>
      startDevServer(id, ({ port, folder }) => [
        ...args,
        ...["--port", String(port), "--persist-to", path.join(folder, "state")],
      ]),
  };
}
