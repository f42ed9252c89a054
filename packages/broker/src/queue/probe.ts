import type { HistoryObserver } from "../history/observer.ts";
import type { ConsumerPort } from "../push/delivery-result.ts";

/** Observer of a broker's queues for a test kit, which can also stand between them and their consumers. */
export interface QueueProbe extends HistoryObserver {
  /** The object of a queue, or of a topic, starts: from now on it has a clock of its own. */
  opened(queue: string): void;
  /** A consumer of a queue with whatever is to stand before it. Asked for each turn that may deliver. */
  around(queue: string, consumer: ConsumerPort): ConsumerPort;
}
