import type { Queue } from "@sluice/engine";
import type { PackedIndex, QueueDefinition } from "@sluice/protocol";
import type { History } from "../history/history.ts";
import type { QueueLog } from "../platform/log.ts";
import type { QueueStore } from "../store/store.ts";
import type { DamageLog } from "./damage-log.ts";
import type { Urgency } from "./group-commit.ts";

/** Members of a queue that its parts may use. Parts that need other parts get them in their constructors. */
export interface QueueContext {
  readonly name: string;
  /** The engine's state. Changed within turns only. */
  readonly queue: Queue;
  /** Time as the queue sees it, in ms: within a turn it stands still. */
  readonly nowMs: number;
  /** Definition of the queue; `undefined` for one that does not exist. */
  readonly definition: QueueDefinition | undefined;
  readonly log: QueueLog;
  readonly store: QueueStore;
  readonly damage: DamageLog;
  /** History that parts note events in. */
  readonly history: History;
  /** Seed of the jitter of retries. */
  readonly jitterSeed: string;
  /** The records of a segment. Throws when its row is gone: damage, since memory says that it has messages. */
  payloadOf(segmentId: number): PackedIndex;
  /** An id for a message that the queue makes itself: 32 hexadecimal digits. */
  newMessageId(): string;
  /** Within a turn: adds a write to its commit. */
  write(write: () => void): void;
  /** Runs `work` in a turn and resolves with its result when the turn is durable. */
  submit<Result>(work: () => Result, urgency?: Urgency): Promise<Result>;
  /**
   * Starts a turn and resolves when it is durable. Who need not know may drop the promise: a turn that fails says so
   * itself.
   */
  wake(): Promise<void>;
  /**
   * Within a turn: lets time do its part, for a job that must not see what is over. Every turn does it after its jobs.
   */
  passTime(): void;
  /** Sets the alarm to the next moment at which anything is due. Every turn does it at its end. */
  rearm(): void;
  /** The queue cannot go on: its object is reset, and starts again from what is durable. */
  broken(error: unknown): void;
}
