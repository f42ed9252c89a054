import type { QueueDefinition, ShardMap } from "@sluice/protocol";
import type { AlertPorts } from "../alerts/alerts.ts";
import type { WorkerDaemonPorts } from "../endpoint/worker-daemon.ts";
import type { HistoryObserver } from "../history/observer.ts";
import type { Clock } from "../platform/clock.ts";
import type { QueueLog } from "../platform/log.ts";
import type { DispatcherPorts } from "../push/dispatcher.ts";
import type { QueueStore } from "../store/store.ts";
import type { Traces } from "../tracing/traces.ts";
import type { MovesPorts } from "../transfer/moves.ts";
import type { OutboxPorts } from "../transfer/outbox.ts";
import type { WakePorts } from "./next-wake.ts";
import type { ShardPorts } from "./queue-part.ts";

/** Surroundings of the core of one queue, which its object makes of its host. */
export interface QueuePorts extends DispatcherPorts, WorkerDaemonPorts, OutboxPorts, MovesPorts, WakePorts {
  readonly store: QueueStore;
  readonly clock: Clock;
  readonly log: QueueLog;
  /** Returns the definition of the queue; `undefined` for one that does not exist. */
  definition(): QueueDefinition | undefined;
  /** Name of the Worker that consumes the queue by the configuration. Default: there is none. */
  readonly configuredWorker?: string | null;
  /** Returns the map of the queue's shards. Default: it never had more than one. */
  shardMap?(): ShardMap | undefined;
  /** Latest epoch of the queue that the store or the directory knows: the store may have lost some. */
  readonly epochKnown: number;
  /**
   * Whether a delivery that the epoch before this one left behind counts as an attempt. It does unless neither its
   * consumer nor its messages can have ended that epoch: it was ended on purpose, or its storage was full.
   */
  readonly cutOffCounts: boolean;
  /** How long the messages of such a delivery that counts wait before the next one, in ms. */
  readonly cutOffDelayMs: number;
  /** Why such a delivery that counts has failed (`cutOffReason`). */
  readonly cutOffReason: string;
  /** Whether a queue without a setting for it keeps a history: in development. */
  readonly keepsHistory: boolean;
  /** Whether rows and time awake are billed: then nothing waits by a timer for long. */
  readonly isBilled: boolean;
  /** Called with every event; `undefined` for none. */
  readonly observer: HistoryObserver | undefined;
  /** Makes the queue's spans. Default: none are exported. */
  readonly traces?: Traces | null;
  /** Alerts of the queue. Default: none. */
  readonly alerts?: AlertPorts | undefined;
  /** Way to the other shards of the queue. Default: it has none. */
  readonly shard?: ShardPorts | undefined;
  /** Seed of the jitter of retries. It can be the same for all: the ids of messages are random already. */
  readonly jitterSeed: string;
  /** Writes what goes with the first commit of this epoch. */
  writeFirst(): void;
  /** A new message id: 32 hexadecimal digits. */
  newMessageId(): string;
  /** Calls back after a time in ms, if this epoch lasts so long. */
  after(callback: () => void, ms: number): void;
  /** Called when memory and store differ: nothing may be answered any more until the object is started again. */
  broken(error: unknown): void;
}
