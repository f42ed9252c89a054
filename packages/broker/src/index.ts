export { type Clock, MovableClock, systemClock } from "./clock.ts";
export { createDirectory, DIRECTORY_NAME, type DirectoryObject } from "./directory/directory.ts";
export {
  type BrokerEnv,
  type BrokerOptions,
  createQueueBroker,
  type QueueBrokerObject,
} from "./queue-broker.ts";
export { describeUnreadable, describeUnreadableTopic } from "./unreadable-queue.ts";
