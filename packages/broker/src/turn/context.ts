import type { Queue } from "@sluice/engine";
import type { PackedIndex, QueueDefinition, ShardMap } from "@sluice/protocol";
import type { History } from "../history/history.ts";
import type { QueueLog } from "../platform/log.ts";
import type { QueueStore } from "../store/store.ts";
import type { Traces } from "../tracing/traces.ts";
import type { DamageLog } from "./damage-log.ts";
import type { Urgency } from "./group-commit.ts";

/** Members of a queue that its parts may use. Parts that need other parts get them in their constructors. */
export interface QueueContext {
  /** Name of the object, which is that of a shard (`shardName`). Tokens and logs have it. */
  readonly name: string;
  /** Name of the queue, which people and Workers see. */
  readonly queueName: string;
  /** Number of the shard that the object keeps. */
  readonly shard: number;
  /** Map of the queue's shards; `undefined` for a queue that never had more than one. */
  readonly shardMap: ShardMap | undefined;
  /** State of the engine, which only turns change. */
  readonly queue: Queue;
  /** Time of the queue in ms, which stands still within a turn. */
  readonly nowMs: number;
  /** Definition of the queue; `undefined` for one that does not exist. */
  readonly definition: QueueDefinition | undefined;
  readonly log: QueueLog;
  readonly store: QueueStore;
  readonly damage: DamageLog;
  /** History that parts note events in. */
  readonly history: History;
  /** Spans of the queue; `null` where none are exported. */
  readonly traces: Traces | null;
  /** Seed of the jitter of retries. */
  readonly jitterSeed: string;
  /** Reads the records of a segment. Throws when its row is missing, which is damage. */
  payloadOf(segmentId: number): PackedIndex;
  /** Makes an id for a message of the queue itself: 32 hexadecimal digits. */
  newMessageId(): string;
  /** Within a turn: adds a write to its commit. */
  write(write: () => void): void;
  /** Runs `work` in a turn and resolves with its result when the turn is durable. */
  submit<Result>(work: () => Result, urgency?: Urgency): Promise<Result>;
  /** Starts a turn and resolves when it is durable. The promise may be dropped: a turn reports its own failure. */
  wake(): Promise<void>;
  /** Within a turn: expires leases and retention periods for a job that needs it. Turns do it after their jobs. */
  passTime(): void;
  /** Sets the alarm to the next moment at which anything is due. Every turn does it at its end. */
  rearm(): void;
  /** Resets the queue's object, which starts again from durable data, after a failure that it cannot handle. */
  broken(error: unknown): void;
}
