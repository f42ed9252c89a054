export { type Clock, MovableClock, systemClock } from "./clock.ts";
export {
  type BrokerEnv,
  type BrokerOptions,
  createQueueBroker,
  type QueueBrokerObject,
} from "./queue-broker.ts";
