import { env, waitUntil } from "cloudflare:workers";
import { installProducers } from "@sluice/producer";

const { QUEUE_NAMES } = env as unknown as { readonly QUEUE_NAMES: readonly string[] };
installProducers(
  env,
  QUEUE_NAMES.map((queue) => ({ binding: queue, queue })),
  {
    namespaceBinding: "SLUICE_QUEUES",
    exposeErrorCodes: true,
    defaultContentType: "json",
    keepAlive: waitUntil,
  },
);

export { default } from "./ordinary/producer.ts";
