import type { HistoryObserver } from "../history/observer.ts";
import type { ConsumerPort } from "../push/delivery-result.ts";

/** What a test kit learns of the queues of a broker, and what it has between them and their consumers. */
export interface QueueProbe extends HistoryObserver {
  /** A consumer of a queue with whatever is to stand before it. Asked for each turn that may deliver. */
  around(queue: string, consumer: ConsumerPort): ConsumerPort;
}
