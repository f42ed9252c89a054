/**
 * A queue without its Durable Object, for simulations: they bring a store, a clock and a platform of their own. Not for
 * Workers; `index.ts` is.
 */
export { Alarm } from "./alarm.ts";
export { BACKOFF_MAX_MS } from "./backoff.ts";
export { MovableClock } from "./clock.ts";
export { buryDead } from "./dead-letter.ts";
export type { ConsumerPort, HandOver, QueuePorts } from "./ports.ts";
export { QueueCore } from "./queue-core.ts";
export { rulesOf } from "./rules.ts";
export type { Note, OutboxItem, QueueStore, StoredSegment } from "./store.ts";
