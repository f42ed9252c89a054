import type { QueueDefinition, QueueDescription } from "@sluice/protocol";

/** What the gateway needs of the broker. */
export interface QueueDirectory {
  /** Every queue that is known, by name. */
  readonly queues: Readonly<Record<string, QueueDefinition>>;
  describe(queue: string): Promise<QueueDescription>;
  /** Moves the clock of every queue forward; `null` where time is real: on a deployed broker. */
  readonly advanceClock: ((ms: number) => Promise<void>) | null;
}
