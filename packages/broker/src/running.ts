import type { Lease } from "@sluice/engine";
import type { Delivery } from "@sluice/protocol";
import type { ConsumerPort } from "./ports.ts";

/** A delivery from its lease to its settlement. */
export interface Running {
  readonly batch: Lease;
  readonly consumer: ConsumerPort;
  readonly delivery: Delivery;
  readonly startedMs: number;
  /** How often the consumer had said that it is back when the delivery was taken: what the call tells is older than the next. */
  readonly returns: number;
  /** Whether its handler has had its time: its consumer is being asked what it did until then. */
  isOverdue: boolean;
}
