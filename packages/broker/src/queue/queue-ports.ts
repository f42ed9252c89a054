import type { QueueDefinition } from "@sluice/protocol";
import type { WorkerDaemonPorts } from "../endpoint/worker-daemon.ts";
import type { Clock } from "../platform/clock.ts";
import type { QueueLog } from "../platform/log.ts";
import type { DispatcherPorts } from "../push/dispatcher.ts";
import type { DamageRecord, QueueStore } from "../store/store.ts";
import type { MovesPorts } from "../transfer/moves.ts";
import type { OutboxPorts } from "../transfer/outbox.ts";
import type { WakePorts } from "./next-wake.ts";
import type { QueueProbe } from "./probe.ts";

/** The world around one queue. A test or a simulation passes its own. */
export interface QueuePorts extends DispatcherPorts, WorkerDaemonPorts, OutboxPorts, MovesPorts, WakePorts {
  readonly store: QueueStore;
  readonly clock: Clock;
  readonly log: QueueLog;
  /** Returns the definition of the queue; `undefined` for one that does not exist. */
  definition(): QueueDefinition | undefined;
  /** Epochs of the queue that are known from elsewhere: its store may have lost the memory of them. Default 0. */
  readonly epochKnown?: number;
  /**
   * Whether a delivery that the epoch before this one left behind counts as an attempt. It does unless neither its
   * consumer nor its messages can have ended that epoch: it was ended on purpose, or its storage was full. Default
   * true.
   */
  readonly cutOffCounts?: boolean;
  /** How long the messages of such a delivery that counts wait before the next one, in ms. Default 0. */
  readonly cutOffDelayMs?: number;
  /** Why such a delivery that counts has failed (`cutOffReason`). Default: that of an end that nobody knows of. */
  readonly cutOffReason?: string;
  /** Whether a queue that is not set to anything keeps a history: in development. Default false. */
  readonly keepsHistory?: boolean;
  /** Probe of a test kit between the queue and its consumer. Default: none. */
  readonly probe?: QueueProbe;
  /** Seed of the jitter of retries. Default "": the ids of messages are random already. */
  readonly jitterSeed?: string;
  /** Where damage is remembered; without it, as long as this epoch lasts. */
  readonly damageRecord?: DamageRecord;
  /** Writes what goes with the first commit of this epoch. Default: nothing. */
  writeFirst?(): void;
  /** A new message id: 32 hexadecimal digits. Default: random. */
  newMessageId?(): string;
  /**
   * Calls back after a time in ms, if this epoch lasts so long. With it a settlement that nobody waits for may linger
   * for another commit to share (`lingerMs`). Default: never, and each settlement is committed at once.
   */
  after?(callback: () => void, ms: number): void;
  /** Memory and store have parted: nothing may be answered any more until the object is started again. */
  broken(error: unknown): void;
}
