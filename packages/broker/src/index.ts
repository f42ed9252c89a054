export { createDirectory } from "./directory/directory.ts";
export {
  type EndpointOutcome,
  type EndpointPort,
  type EndpointRequest,
  outcomeOf,
} from "./endpoint/endpoint.ts";
export { refusalOfAddress, refusalOfTarget, type TargetRules, targetRulesOf } from "./endpoint/target.ts";
export { endpointVariablesOf } from "./endpoint/variables.ts";
export type { NotedEvent } from "./history/journal/event.ts";
export type { BrokerEnv, BrokerOptions, Disk } from "./object/broker-env.ts";
export type { Instruments } from "./object/instruments.ts";
export { createQueueBroker } from "./object/queue-broker.ts";
export { describeUnreadable, describeUnreadableTopic } from "./object/unreadable-queue.ts";
export { type Clock, type HostClock, systemClock } from "./platform/clock.ts";
export type { Host, HostOf } from "./platform/host.ts";
export { ackedResult, type ConsumerPort, failedResult } from "./push/delivery-result.ts";
export {
  type AlarmedObject,
  DIRECTORY_NAME,
  type DirectoryClock,
  type DirectoryObject,
} from "./rpc/directory-object.ts";
export type { QueueBrokerObject, SettledQueue } from "./rpc/queue-object.ts";
