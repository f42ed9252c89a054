import type {
  DeleteOutcome,
  DirectoryReply,
  EnqueueReply,
  EnqueueRequest,
  FaultSetting,
  FiguresReply,
  HistoryEvent,
  LookedAt,
  QueueDefinition,
  QueueDescription,
  QueueRecord,
  ReceiveNowReply,
  ReceiveRequest,
  TopicRecord,
  TopicSnapshot,
  TopicSubscription,
  VisibilityChange,
  VisibilityOutcome,
  WatchReply,
} from "@sluice/protocol";
import { RETENTION_SECONDS_DEFAULT } from "@sluice/protocol";
import type { Access, AccountDirectory, QueueDirectory } from "../src/index.ts";
import { CREATED_MS, memoryAudit, memoryClock, memoryR2, memoryTokens } from "./in-memory.ts";

export const ORDERS: QueueDefinition = {
  deliveryDelaySeconds: 5,
  messageRetentionSeconds: 86_400,
  producers: [{ worker: "shop", binding: "ORDERS" }],
  consumer: {
    type: "worker",
    worker: "mailer",
    settings: {
      maxBatchSize: 10,
      maxBatchTimeoutSeconds: 5,
      maxRetries: 3,
      maxConcurrency: null,
      retryDelaySeconds: 0,
      deadLetterQueue: "dead",
    },
  },
};

export const DEAD: QueueDefinition = {
  deliveryDelaySeconds: 0,
  messageRetentionSeconds: RETENTION_SECONDS_DEFAULT,
  producers: [],
  consumer: null,
};

/** The broker of a developer's machine. */
export const OPEN: Access = { kind: "open", hosts: [], routeHosts: [] };

/** An event of a queue's history. */
export function eventOf(changes: Partial<HistoryEvent>): HistoryEvent {
  return {
    number: 1,
    kind: "accepted",
    atMs: CREATED_MS,
    queue: "orders",
    messages: 1,
    ids: ["a".repeat(32)],
    by: null,
    to: null,
    otherIds: [],
    batch: null,
    attempt: null,
    delayMs: null,
    delayReason: null,
    error: null,
    tookMs: null,
    merged: null,
    past: null,
    ...changes,
  };
}

/** A message as an operator looks at it. */
export function lookedAt(changes: Partial<LookedAt> = {}): LookedAt {
  return {
    id: "0".repeat(32),
    ref: "r",
    state: "ready",
    attempts: 0,
    sentMs: 1,
    atMs: 1,
    keptUntilMs: 2,
    contentType: "text",
    bodyBytes: 0,
    body: new Uint8Array(),
    group: null,
    attributes: null,
    from: null,
    why: { reason: "dueNow", text: "It leaves at once.", untilMs: 1, by: null },
    ...changes,
  };
}

/** Figures that a queue sends to its watchers. */
export const FIGURES: WatchReply["figures"] = {
  nowMs: 5,
  ready: 1,
  delayed: 0,
  leased: 0,
  backlogBytes: 4,
  oldestMessageTimestampMs: 0,
  isOn: true,
  totals: {},
  tookMs: [],
};

/** Figures of two seconds. */
export const FIGURES_REPLY: FiguresReply = {
  isOn: true,
  nowMs: CREATED_MS,
  stepMs: 1_000,
  sinceMs: CREATED_MS - 1_500,
  startsMs: [CREATED_MS - 1_000, CREATED_MS],
  counts: { accepted: [1.66666, 2] },
  held: [null, 2],
  ageMs: [null, 5],
  p50Ms: [null, 10],
  p99Ms: [null, 50],
  took: { tookMs: [], p50Ms: 10, p99Ms: 50, longestMs: 44 },
  marks: [{ kind: "clockMoved", atMs: CREATED_MS, byMs: 60_000 }],
};

/** A record of a queue; ids are digits of its name. */
export function recordOf(name: string, definition: QueueDefinition): QueueRecord {
  const digits = [...new TextEncoder().encode(name)].map((byte) => byte.toString(16)).join("");
  return {
    queueId: digits.padEnd(32, "0").slice(0, 32),
    name,
    createdOnMs: CREATED_MS,
    modifiedOnMs: CREATED_MS,
    revision: 1,
    emptyAsOf: 0,
    definition,
    consumer:
      definition.consumer === null
        ? null
        : { consumerId: digits.padEnd(32, "c").slice(0, 32), createdOnMs: CREATED_MS },
    jurisdiction: null,
    dialects: {},
  };
}

/** A directory that can be read only: what changes something is for the broker's own tests. */
export function accountOf(queues: Record<string, QueueDefinition>): AccountDirectory {
  const records = Object.keys(queues)
    .sort()
    .map((name) => recordOf(name, queues[name] as QueueDefinition)); // a key of the record
  const find = (test: (record: QueueRecord) => boolean) => records.find(test) ?? null;
  const refuse = async (): Promise<DirectoryReply> => ({ ok: false, refusal: { kind: "queueNotFound" } });
  return {
    list: async () => records,
    findByName: async (name) => find((record) => record.name === name),
    placeOf: async () => null,
    findById: async (queueId) => find((record) => record.queueId === queueId),
    createQueue: refuse,
    changeQueue: refuse,
    deleteQueue: refuse,
    setConsumer: refuse,
    removeConsumer: refuse,
    listSubscriptions: async () => [],
    createSubscription: async () => ({ ok: false, refusal: { kind: "queueNotFound" } }),
    changeSubscription: async () => ({ ok: false, refusal: { kind: "subscriptionNotFound" } }),
    deleteSubscription: async () => ({ ok: false, refusal: { kind: "subscriptionNotFound" } }),
    notePurge: async () => {},
    lastPurge: async () => null,
    lastDeletion: async () => null,
    atRest: async () => [],
    deployed: async () => "fingerprint",
  };
}

/** A directory of queues with messages in each state, and a list of what its clock was told. */
export function directoryOf(
  queues: Record<string, QueueDefinition> = { orders: ORDERS, dead: DEAD },
  changes: Partial<QueueDescription> = {},
  topics: readonly Omit<TopicSnapshot, "version">[] = [],
): QueueDirectory & { readonly advances: number[] } {
  const advances: number[] = [];
  let faults: FaultSetting = { seed: 1, faults: [] };
  const describe = async (queue: string): Promise<QueueDescription> => ({
    queue,
    nowMs: CREATED_MS,
    awakeSinceMs: CREATED_MS,
    ready: 1,
    delayed: 2,
    leased: 3,
    backlogBytes: 4,
    oldestMessageTimestampMs: 1_700_000_000_000,
    rowsWritten: 5,
    rowsRead: 6,
    damage: [],
    consumer: null,
    lastMove: null,
    ...changes,
  });
  return {
    account: accountOf(queues),
    topics: topicsOf(topics),
    tokens: memoryTokens(),
    audit: memoryAudit(),
    r2: memoryR2(),
    watchR2: async () => {},
    topic: () => queueWith({}) as unknown as ReturnType<QueueDirectory["topic"]>,
    advances,
    queue: () =>
      queueWith({
        describe,
        drain: async () => ({ requests: 0 }),
        faults: async () => faults,
        setFaults: async (_queue, setting) => {
          faults = setting;
        },
        purge: async () => ({ purged: 0 }),
        peek: async () => ({ packed: new Uint8Array(), attempts: [], refs: [] }),
        look: async () => ({ messages: [], matched: 0, cursor: null, searched: 0, of: 0 }),
      }),
    describe,
    describeShards: async (queue) => [
      { shard: 0, isOpen: true, keepsGroups: false, found: { description: await describe(queue) } },
    ],
    describeTopic: async () => ({
      nowMs: CREATED_MS,
      awakeSinceMs: CREATED_MS,
      published: 7,
      duplicates: 0,
      handOvers: [],
      damage: [],
    }),
    alerts: {
      settings: { format: "webhook", deadLetters: true },
      url: "https://hooks.shop.example/secret-path",
      trouble: null,
    },
    isLocal: false,
    variableRefusal: (name) => (name === "SET" ? null : `no configuration names ${name}`),
    searchDocs: null,
    isServed: true,
    reportDisk: () => {},
    reportClock: async () => {},
    clock: memoryClock(advances),
  };
}

type QueueObject = ReturnType<QueueDirectory["queue"]>;

/** Methods of a queue's object in a test; the parts of `work` apart from each other. */
export interface AbleQueue extends Partial<QueueObject> {
  enqueue?(queue: string, request: EnqueueRequest): Promise<EnqueueReply>;
  receiveNow?(queue: string, requests: readonly ReceiveRequest[]): Promise<readonly ReceiveNowReply[]>;
  deleteBatch?(queue: string, receipts: readonly string[]): Promise<readonly DeleteOutcome[]>;
  changeVisibilityBatch?(
    queue: string,
    changes: readonly VisibilityChange[],
  ): Promise<readonly VisibilityOutcome[]>;
}

/** A queue's object that can do what a test says, and nothing else. */
export function queueWith(able: AbleQueue): QueueObject {
  const work: QueueObject["work"] = async (queue, { enqueue, receive, remove, change }) => {
    const parts = [
      enqueue === undefined ? {} : able.enqueue?.(queue, enqueue).then((enqueued) => ({ enqueued })),
      receive === undefined ? {} : able.receiveNow?.(queue, receive).then((received) => ({ received })),
      remove === undefined ? {} : able.deleteBatch?.(queue, remove).then((removed) => ({ removed })),
      change === undefined
        ? {}
        : able.changeVisibilityBatch?.(queue, change).then((changed) => ({ changed })),
    ];
    if (parts.includes(undefined)) throw new Error("no test asks for all of this work here");
    return Object.assign({ ok: true as const }, ...(await Promise.all(parts)));
  };
  const refuse = (_target: unknown, method: string | symbol) => () =>
    Promise.reject(new Error(`no test calls ${String(method)} here`));
  return new Proxy(
    { work, ...able },
    { get: (target, method) => Reflect.get(target, method) ?? refuse(target, method) },
  ) as QueueObject;
}

export const TOPIC: TopicRecord = {
  topicId: "0".repeat(32),
  arn: "arn:aws:sns:us-east-1:000000000000:news",
  createdOnMs: CREATED_MS,
  revision: 1,
  isFifo: false,
  attributes: {},
  tags: {},
  endedSubscriptions: 0,
};

/** A confirmed subscription of `TOPIC` to the queue `orders`. */
export function subscriptionOf(changes: Partial<TopicSubscription> = {}): TopicSubscription {
  const subscriptionId = changes.subscriptionId ?? "00000000-0000-4000-8000-000000000000";
  return {
    subscriptionId,
    arn: `${TOPIC.arn}:${subscriptionId}`,
    topicArn: TOPIC.arn,
    createdOnMs: CREATED_MS,
    revision: 1,
    protocol: "sqs",
    endpoint: "arn:aws:sqs:us-east-1:000000000000:orders",
    target: "orders",
    deadLetterQueue: null,
    status: { kind: "confirmed", wasAuthenticated: false, authenticateOnUnsubscribe: false, token: null },
    attributes: {},
    ...changes,
  };
}

/** Topics that can be read only. */
export function topicsOf(topics: readonly Omit<TopicSnapshot, "version">[]): QueueDirectory["topics"] {
  const able: Partial<QueueDirectory["topics"]> = {
    listTopics: async () => topics.map(({ topic }) => topic),
    findTopic: async (arn) => {
      const found = topics.find(({ topic }) => topic.arn === arn);
      return found === undefined ? null : { ...found, version: 1 };
    },
    listTopicSubscriptions: async () =>
      topics.flatMap(({ subscriptions }) => subscriptions.filter(({ status }) => status.kind !== "ended")),
  };
  return queueWith(
    able as Partial<ReturnType<QueueDirectory["queue"]>>,
  ) as unknown as QueueDirectory["topics"];
}
