import type {
  DirectoryRpc,
  QueueBrokerRpc,
  QueueDescription,
  QueuePullRpc,
  QueueReceiveRpc,
  TopicDescription,
  TopicObjectRpc,
  TopicsRpc,
} from "@sluice/protocol";

/** Which queues there are and what they are set to. Every dialect, the admin API and the dashboard ask it. */
export type AccountDirectory = DirectoryRpc;

/** What the gateway needs of the broker. */
export interface QueueDirectory {
  readonly account: AccountDirectory;
  /** Topics and their subscriptions. */
  readonly topics: TopicsRpc;
  /** A queue's object. Take it anew for every call: one that failed stays broken. */
  queue(name: string): QueueBrokerRpc & QueuePullRpc & QueueReceiveRpc;
  /** A topic's object. */
  topic(topicObject: string): Pick<TopicObjectRpc, "publish">;
  /** What a queue holds. Answers even when its object cannot be started: then with the damage alone. */
  describe(queue: string): Promise<QueueDescription>;
  /** The same for what a topic has on its way. */
  describeTopic(topicObject: string): Promise<TopicDescription>;
  /** Moves the clock of every queue forward; `null` where time is real: on a deployed broker. */
  readonly advanceClock: ((ms: number) => Promise<void>) | null;
  /** Whether the objects run in this process: a call to one costs no more than that of a function. */
  readonly isLocal: boolean;
  /** Whether a process of the same machine has started the broker, and may announce its end. */
  readonly isServed: boolean;
  /** Takes a report of whether the disk is full; `null` where no process watches the disk. */
  readonly toldDisk: ((isFull: boolean) => void) | null;
}
