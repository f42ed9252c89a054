export type { BrokerEnv, BrokerOptions } from "./broker-env.ts";
export { type Clock, MovableClock, systemClock } from "./clock.ts";
export { createDirectory, type DirectoryObject } from "./directory/directory.ts";
export { DIRECTORY_NAME } from "./directory/name.ts";
export {
  type EndpointOutcome,
  type EndpointPort,
  type EndpointRequest,
  outcomeOf,
} from "./endpoint/endpoint.ts";
export { createQueueBroker, type QueueBrokerObject } from "./queue-broker.ts";
export { describeUnreadable, describeUnreadableTopic } from "./unreadable-queue.ts";
