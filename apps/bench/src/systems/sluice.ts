import path from "node:path";
import { fileURLToPath } from "node:url";
import { startDevServer, WORKER } from "./dev-server.ts";
import type { System } from "./system.ts";

/** The command from source. */
export const SLUICE_CLI = path.resolve(
  path.dirname(fileURLToPath(import.meta.url)),
  "../../../../packages/cli/src/main.ts",
);

/** The bench Worker under `sluice dev`: a send is answered when its message is in SQLite and synced. */
export const sluice: System = {
  id: "sluice",
  name: "Sluice (sluice dev)",
  acknowledged: "commit",
  clockMs: 1,
  how: "sendBatch(100); queue() with batches of 100",
  install: async () => {},
  start: () =>
    startDevServer("sluice", ({ port, folder }) => [
      SLUICE_CLI,
      "dev",
      WORKER,
      "--port",
      String(port),
      "--persist-to",
      path.join(folder, "state"),
    ]),
};
