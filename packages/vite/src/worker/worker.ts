/** Exports that the generated entries of the users' Workers import. */
export { createQueueConsumer, withFrontDoor } from "sluice/runtime";
export { boundExports, boundHandlers } from "./bound-exports.ts";
export { queueBinder } from "./queue-binder.ts";
