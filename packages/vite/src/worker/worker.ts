/** Exports for the generated entries of the users' Workers. */
export { createQueueConsumer, watchConsole, withFrontDoor } from "@sluice/project/runtime/worker";
export { boundExport, boundExports } from "./bound-exports.ts";
export { queueBinder } from "./queue-binder.ts";
