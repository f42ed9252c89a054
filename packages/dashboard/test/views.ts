import type { QueueView, TopicView } from "@sluice/gateway/views";
import type { EventView } from "../src/api/call.ts";

const NOW = "2026-11-21T12:00:00.000Z";

/** A queue as the admin API shows it: empty and unused, but for `changes`. */
export function queueView(changes: Partial<QueueView> = {}): QueueView {
  return {
    name: "orders",
    id: "1",
    kind: "standard",
    now: NOW,
    awakeSince: NOW,
    backlogBytes: 0,
    oldestMessageAt: null,
    isConfigured: false,
    producers: [],
    consumer: null,
    jurisdiction: null,
    place: null,
    redrive: null,
    topics: [],
    buckets: [],
    lastMove: null,
    faults: [],
    alerts: [],
    rates: null,
    messages: { ready: 0, delayed: 0, leased: 0 },
    settings: {
      deliveryDelaySeconds: 0,
      messageRetentionSeconds: 60,
      deliveryPaused: false,
      maxReceivesPerSecond: null,
      visibilityTimeoutSeconds: 30,
      receiveWaitSeconds: 0,
      finishedMessages: 0,
      shards: 1,
      alertsSilentUntil: null,
    },
    health: null,
    damage: [],
    deadLettersOf: { queues: [], subscriptions: [] },
    storage: { rowsWritten: 0, rowsRead: 0 },
    usage: null,
    ...changes,
  };
}

/** An event of a queue's history: a message that was accepted, but for `changes`. */
export function eventView(changes: Partial<EventView> = {}): EventView {
  return {
    number: 1,
    kind: "accepted",
    at: NOW,
    queue: "orders",
    messages: 1,
    ids: [],
    otherIds: [],
    by: null,
    to: null,
    batch: null,
    attempt: null,
    delayMs: null,
    delayReason: null,
    error: null,
    tookMs: null,
    merged: null,
    ...changes,
  };
}

export function topicView(changes: Partial<TopicView> = {}): TopicView {
  return {
    arn: "arn:aws:sns:us-east-1:000000000000:news",
    name: "news",
    kind: "standard",
    createdAt: NOW,
    subscriptions: { confirmed: 0, pending: 0 },
    endpoints: null,
    ...changes,
  };
}

export function workerConsumer(worker: string, deadLetterQueue: string | null): QueueView["consumer"] {
  return {
    type: "worker",
    worker,
    settings: {
      maxBatchSize: 10,
      maxBatchTimeoutSeconds: 5,
      maxRetries: 3,
      maxConcurrency: null,
      retryDelaySeconds: 0,
      deadLetterQueue,
    },
  };
}
