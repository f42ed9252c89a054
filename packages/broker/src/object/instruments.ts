import type { HostStorage } from "../platform/host.ts";
import type { QueueCore } from "../queue/queue-core.ts";
import type { QueuePorts } from "../queue/queue-ports.ts";
import type { CommitWatcher, SqliteStore } from "../store/sqlite-store.ts";
import type { Registration } from "./registration.ts";

/**
 * The one seam at which a test kit, or a simulation, watches and alters the queues of a broker. Absent where messages
 * are real ones.
 */
export interface Instruments {
  /** Opens the store of a queue in place of the broker. */
  openStore?(queue: string, storage: HostStorage, watchers: readonly Partial<CommitWatcher>[]): SqliteStore;
  /** Returns the ports that the core gets. Called when the queue is identified, before its core is put together. */
  ports?(queue: string, ports: QueuePorts, registration: Registration): QueuePorts;
  /** Called when the core has begun. */
  begun?(core: QueueCore): void;
}
