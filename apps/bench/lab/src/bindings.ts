import { env, waitUntil } from "cloudflare:workers";
import { installProducers } from "@sluice/producer";

// Imported first, as in the entries that `sluice` generates: the bench Worker finds its queues in `env`.
installProducers(
  env,
  [
    { binding: "BENCH", queue: "bench" },
    { binding: "BENCH_NOW", queue: "bench-now" },
  ],
  {
    namespaceBinding: "SLUICE_QUEUES",
    exposeErrorCodes: true,
    defaultContentType: "json",
    keepAlive: waitUntil,
  },
);
