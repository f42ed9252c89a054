/** Parts and times of a broker that a simulation watches, besides its classes (`index.ts`). Not for Workers. */
export type { DirectoryRow } from "./directory/row.ts";
export { DRAIN_MS } from "./endpoint/worker-daemon.ts";
export type { Registration } from "./object/registration.ts";
export { BACKOFF_MAX_MS } from "./platform/backoff.ts";
export type { HostStorage } from "./platform/host.ts";
export type { ConsumerPort } from "./push/delivery-result.ts";
export type { QueueCore } from "./queue/queue-core.ts";
export type { QueuePorts } from "./queue/queue-ports.ts";
export { decodeReceipt, receivedMsOf } from "./receive/receipt-token.ts";
export type { Opened } from "./rpc/directory-object.ts";
export type { Transfer, TransferItem, TransferReply, Undeliverable } from "./rpc/transfer.ts";
export { IS_LIVE } from "./store/mark.ts";
export { recordFrom, SELECT_RECORD } from "./store/record-copy.ts";
export { type CommitWatcher, SqliteStore } from "./store/sqlite-store.ts";
export type { OutboxItem, QueueStore } from "./store/store.ts";
export { HEARTBEAT_MS } from "./turn/heartbeat.ts";
export { LEASE_GRACE_MS, rulesOf } from "./turn/rules.ts";
