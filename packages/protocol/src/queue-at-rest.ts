import type { QueueDescription } from "./rpc.ts";

/**
 * A queue that nothing but a call can change: nothing is delayed, leased or under way. What it said of itself then stays true
 * while its object sleeps.
 */
export interface QueueAtRest {
  /** A queue that was created anew under the name is another one. */
  readonly queueId: string;
  readonly description: QueueDescription;
}
