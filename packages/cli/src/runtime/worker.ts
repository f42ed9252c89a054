/** What the generated entries of the users' Workers import. */
export { createQueueConsumer } from "@sluice/consumer";
export { installProducers } from "@sluice/producer";
export { withFrontDoor } from "./front-door.ts";
export { hideBindings } from "./hide-bindings.ts";
