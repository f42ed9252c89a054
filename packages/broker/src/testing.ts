/**
 * A queue without its Durable Object, for simulations: they bring a store, a clock and a platform of their own. Not for
 * Workers; `index.ts` is.
 */
export { Alarm } from "./alarm.ts";
export { BACKOFF_MAX_MS } from "./backoff.ts";
export { MovableClock } from "./clock.ts";
export { buryDead } from "./dead-letter.ts";
export { applyTopology } from "./directory/apply-topology.ts";
export { Changes } from "./directory/changes.ts";
export { removeConsumer, setConsumer } from "./directory/consumers.ts";
export { Notices } from "./directory/notices.ts";
export { changeQueue, createQueue, deleteQueue, ensureQueue } from "./directory/queues.ts";
export { Registry } from "./directory/registry.ts";
export { type DirectoryRow, nameOf } from "./directory/row.ts";
export type { Standing } from "./directory/standing.ts";
export type { EndpointOutcome, EndpointPort, EndpointRequest } from "./endpoint/endpoint.ts";
export { EndpointCaller } from "./endpoint/endpoint-caller.ts";
export { EndpointConsumer } from "./endpoint/endpoint-consumer.ts";
export { formatOf } from "./endpoint/formats/index.ts";
export { DRAIN_MS } from "./endpoint/worker-daemon.ts";
export { createIfAbsent, type Following, follow, writeRecord } from "./follow.ts";
export { HEARTBEAT_MS } from "./next-wake.ts";
export { passOn, type Undeliverable } from "./pass-on.ts";
export type { ConsumerPort, HandOver, HandOverItem, HandOverReply, QueuePorts } from "./ports.ts";
export { QueueCore } from "./queue-core.ts";
export { decodeReceipt, receivedMsOf } from "./receipt-token.ts";
export { isOfDeleted, type Known, knownFrom, Registration } from "./registration.ts";
export { LEASE_GRACE_MS, rulesOf } from "./rules.ts";
export type { Note, OutboxItem, QueueStore, StoredSegment } from "./store.ts";
