/** What runs the user's Workers on the broker, for whoever has a Miniflare of its own. */
export { writeGenerated } from "./dev/generation.ts";
export { CliError } from "./errors.ts";
export { queueCompatibility } from "./generate/compatibility.ts";
export { BROKER_BINDING, CONSUMER_ENTRYPOINT, QUEUES_BINDING } from "./generate/names.ts";
export type { Plan } from "./generate/plan.ts";
export { relativePath } from "./generate/relocate.ts";
export { BINDINGS_FILE, bindingsSource } from "./generate/worker-entry.ts";
export { refuseMissingMain } from "./project/missing-main.ts";
export { type Project, readProject } from "./project/project.ts";
export type { UserWorker } from "./project/worker.ts";
export { wranglerDefaults } from "./project/wrangler-config.ts";
export { brokerVariables, ownVariablesOf } from "./serve/variables.ts";
export { bundleInside } from "./serve/workerd/bundle-inside.ts";
export { stackFrameMapper } from "./serve/workerd/stack-frames.ts";
export { servedWorkers } from "./serve/workerd/worker-options.ts";
export { printedOf } from "./serve/workerd/workerd-process.ts";
export { requireOfWrangler, takeWranglerOf } from "./wrangler/load-wrangler.ts";
export { newMiniflare } from "./wrangler/new-miniflare.ts";
