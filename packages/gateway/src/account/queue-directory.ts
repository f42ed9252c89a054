import type {
  AlertSettings,
  AuditRpc,
  ClockSetting,
  DirectoryRpc,
  NextMoment,
  QueueBrokerRpc,
  QueueDescription,
  QueueHistoryRpc,
  QueueMessagesRpc,
  QueuePullRpc,
  QueueReceiveRpc,
  R2Rpc,
  TokensRpc,
  TopicDescription,
  TopicObjectRpc,
  TopicsRpc,
} from "@sluice/protocol";

/** The directory: which queues there are, and their settings. Every dialect, the admin API and the dashboard ask it. */
export type AccountDirectory = DirectoryRpc;

/** A queue, and what comes next in it. */
export interface ComingMoment extends NextMoment {
  readonly queue: string;
}

/** The clock that all queues go by: development only. It never goes backwards. */
export interface BrokerClock {
  read(): Promise<ClockSetting>;
  /** @param ms how far it is moved forward: 0 or more. */
  advance(ms: number): Promise<ClockSetting>;
  /** Stops the clock, or lets it go on with real time. */
  freeze(isFrozen: boolean): Promise<ClockSetting>;
  /**
   * Reads the first moment that comes, in one queue or in all but that of alerts; and the queues in which something is
   * under way, which may change it.
   */
  next(queue: string | null): Promise<{
    readonly first: ComingMoment | null;
    readonly busy: readonly string[];
    /** The first end of a retention, in all queues but that of alerts; `null` for none. */
    readonly expiring: { readonly queue: string; readonly atMs: number } | null;
  }>;
}

/** Section of the documentation. */
export interface DocsSection {
  /** File in the folder of the package: `docs/cli.md`. */
  readonly file: string;
  readonly heading: string;
  readonly text: string;
}

/** One of the objects that keep a queue. */
export interface ShardReport {
  readonly shard: number;
  /** Whether it takes new messages in; else it delivers what it has and goes. */
  readonly isOpen: boolean;
  /** Whether it may hold messages of groups that belong to another shard now. */
  readonly keepsGroups: boolean;
  /** Description of its contents, or why it does not answer. */
  readonly found: { readonly description: QueueDescription } | { readonly failure: string };
}

/** Interface of the broker to the gateway. */
export interface QueueDirectory {
  readonly account: AccountDirectory;
  /** Topics and their subscriptions. */
  readonly topics: TopicsRpc;
  /** Event notification rules of R2 buckets. */
  readonly r2: R2Rpc;
  /** Tokens that may use the HTTP APIs, besides those of the configuration. */
  readonly tokens: TokensRpc;
  /** Audit log: each change, and who made it. */
  readonly audit: AuditRpc;
  /** A queue's object. Take it anew for every call: one that failed stays broken. */
  queue(name: string): QueueBrokerRpc & QueueHistoryRpc & QueueMessagesRpc & QueuePullRpc & QueueReceiveRpc;
  /** A topic's object. */
  topic(topicObject: string): Pick<TopicObjectRpc, "publish">;
  /** Describes the contents of a queue. Answers even when its object cannot be started: then with the damage alone. */
  describe(queue: string): Promise<QueueDescription>;
  /** Describes each shard of a queue, in order; the one object of a queue without shards. */
  describeShards(queue: string): Promise<readonly ShardReport[]>;
  /** Describes a topic, and the messages that it has on their way. */
  describeTopic(topicObject: string): Promise<TopicDescription>;
  /** Settings of alerts, and the URL of their webhook where one is set; `null` for a broker without alerts. */
  readonly alerts: {
    readonly settings: AlertSettings;
    readonly url: string | undefined;
    /** Why nothing can be sent to the webhook; `null` where nothing is missing. */
    readonly trouble: string | null;
  } | null;
  /** The clock of every queue; `null` where time is real: on a deployed broker. */
  readonly clock: BrokerClock | null;
  /** Whether the objects run in this process: a call to one costs no more than that of a function. */
  readonly isLocal: boolean;
  /** Why an HTTP endpoint at a URL does not get an environment variable that its settings name; `null` if it does. */
  variableRefusal(name: string, url: string): string | null;
  /** URL of a page that shows a trace, with `{traceId}` in it. Absent or `null` for none. */
  readonly traceUrl?: string | null;
  /** Searches the documentation; `null` where the broker has none with it. */
  readonly searchDocs: ((query: string) => Promise<readonly DocsSection[]>) | null;
  /** Whether a process of the same machine has started the broker, and may announce its end. */
  readonly isServed: boolean;
  /** Takes a report of whether the disk is full; `null` where no process watches the disk. */
  readonly reportDisk: ((isFull: boolean) => void) | null;
  /**
   * Takes a report of how far the broker's time is behind the system's clock, in ms, and has queues set their alarms
   * anew if that clock was set; `null` where no process watches it.
   */
  readonly reportClock: ((behindMs: number) => Promise<void>) | null;
  /**
   * Has the writes to these R2 buckets, and to no others, reported from now on; `null` where no process sees writes.
   */
  readonly watchR2: ((buckets: readonly string[]) => Promise<void>) | null;
}
