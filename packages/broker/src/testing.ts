/**
 * A queue without its Durable Object, for simulations: they bring a store, a clock and a platform of their own. Not for
 * Workers; `index.ts` is.
 */

export { applyTopology } from "./directory/apply-topology.ts";
export { Changes } from "./directory/changes.ts";
export { removeConsumer, setConsumer } from "./directory/consumers.ts";
export { Notices } from "./directory/notices.ts";
export { changeQueue, createQueue, deleteQueue, ensureQueue } from "./directory/queues.ts";
export { Registry } from "./directory/registry.ts";
export { type DirectoryRow, nameOf } from "./directory/row.ts";
export type { EndpointOutcome, EndpointPort, EndpointRequest } from "./endpoint/endpoint.ts";
export { EndpointCaller } from "./endpoint/endpoint-caller.ts";
export { EndpointConsumer } from "./endpoint/endpoint-consumer.ts";
export { formatOf } from "./endpoint/formats/index.ts";
export { DRAIN_MS } from "./endpoint/worker-daemon.ts";
export { Alarm } from "./object/alarm.ts";
export {
  applyConfiguration,
  type ConfigurableQueue,
  createIfAbsent,
  writeRecord,
} from "./object/apply-configuration.ts";
export { isOfDeleted, type Known, knownFrom, Registration } from "./object/registration.ts";
export { BACKOFF_MAX_MS } from "./platform/backoff.ts";
export { MovableClock } from "./platform/clock.ts";
export type { ConsumerPort } from "./push/delivery-result.ts";
export { HEARTBEAT_MS } from "./queue/next-wake.ts";
export { QueueCore } from "./queue/queue-core.ts";
export type { QueuePorts } from "./queue/queue-ports.ts";
export { decodeReceipt, receivedMsOf } from "./receive/receipt-token.ts";
export type { QueueStatus } from "./rpc/queue-status.ts";
export type { Transfer, TransferItem, TransferReply, Undeliverable } from "./rpc/transfer.ts";
export type { Note, OutboxItem, QueueStore, StoredSegment } from "./store/store.ts";
export { LINGER_DEPLOYED_MS, LINGER_MS } from "./turn/group-commit.ts";
export { LEASE_GRACE_MS, rulesOf } from "./turn/rules.ts";
export { AwakeTime } from "./usage/awake-time.ts";
