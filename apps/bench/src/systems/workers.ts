import path from "node:path";
import { SLUICE, WRANGLER_BIN } from "sluice/test/running";
import { startDevServer, WORKER } from "./dev-server.ts";
import type { System } from "./system.ts";

/** The bench Worker under `sluice dev`: a send is answered when its message is in SQLite and synced. */
export const sluice = devServer("sluice", "Sluice (sluice dev)", "disk", [SLUICE, "dev", WORKER]);

/** The same Worker under plain `wrangler dev`: Miniflare keeps messages in memory. */
export const miniflare = devServer("miniflare", "Miniflare (wrangler dev)", "memory", [
  ...[WRANGLER_BIN, "dev", "--config", path.join(WORKER, "wrangler.toml")],
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
