import type { ShardMap } from "../../shards/shard-map.ts";
import type { ConsumerDefinition, QueueDefinition } from "../../topology/topology.ts";
import type { QueueAtRest } from "../queue/description.ts";
import type { QueueUsage } from "../queue/usage.ts";

/**
 * The directory: which queues an account has, and their settings. The broker, every dialect and the admin API ask it.
 * Plain data only, and failures as data: it crosses RPC.
 */

/** Name of the one directory of an account. */
export const DIRECTORY_NAME = "directory";

/** Where a queue's data may lie (spec cloudflare-queues 4). It holds where the platform can keep objects there. */
export const JURISDICTIONS = ["eu", "us", "fedramp"] as const;
export type Jurisdiction = (typeof JURISDICTIONS)[number];

/** Most queues of an account (spec cloudflare-queues 0). */
export const QUEUES_MAX = 10_000;

/** How long the name of a deleted queue is remembered, in ms (spec sqs 2.1: QueueDeletedRecently). */
export const NAME_KEPT_MS = 60_000;

/** Record of a queue, times in ms since 1970. A contract: it is stored. Only optional members may be added. */
export interface QueueRecord {
  /** 32 hexadecimal digits, random; a queue that is deleted and created again has another one. */
  readonly queueId: string;
  readonly name: string;
  readonly createdOnMs: number;
  readonly modifiedOnMs: number;
  /** Grows with every change over all queues: of two records of a name the larger one is the newer. */
  readonly revision: number;
  /**
   * The revision at which an earlier queue of this name was deleted, 0 if none was: messages that the queue's object
   * holds from before are not this queue's.
   */
  readonly emptyAsOf: number;
  /** Current definition of the queue, by whichever way it was set. */
  readonly definition: QueueDefinition;
  /** Identity of `definition.consumer`; `null` where there is none. */
  readonly consumer: ConsumerIdentity | null;
  readonly jurisdiction: Jurisdiction | null;
  /**
   * Jurisdiction that the queue's object is made in. Absent for an object that may be anywhere: that of a queue without
   * a jurisdiction, or that was created where the platform has none.
   */
  readonly place?: Jurisdiction;
  /** Map of the queue's shards, in the record of each of them. Absent for a queue that never had more than one. */
  readonly shards?: ShardMap;
  /**
   * In the record of the first shard: usage of shards that have gone, in the month in which the last of them went.
   * Absent for none.
   */
  readonly goneUsage?: QueueUsage;
  /** Set where the configuration names the queue. Never stored: the directory adds it to its answers. */
  readonly isConfigured?: true;
  /** In the record of a shard other than the first: revision of the queue's record that its settings are from. */
  readonly queueRevision?: number;
  /** Settings that only a dialect understands, by the dialect's name: kept as they are. */
  readonly dialects: Readonly<Record<string, unknown>>;
}

export interface ConsumerIdentity {
  /** 32 hexadecimal digits, random. */
  readonly consumerId: string;
  readonly createdOnMs: number;
}

/** Queue to create; what is absent has its default. */
export interface NewQueue {
  readonly name: string;
  /** Default: those of the configuration if it names the queue, else the defaults. */
  readonly settings?: QueueSettingsChange;
  /**
   * Default: that of the configuration if it names the queue, else none; `null` for none. A dead-letter queue of a
   * given one that does not exist is created too.
   */
  readonly consumer?: ConsumerDefinition | null;
  readonly jurisdiction?: Jurisdiction;
  readonly dialects?: Readonly<Record<string, unknown>>;
}

/** Settings of the queue itself; an absent one stays as it is. Ranges are checked at the edge. */
export type QueueSettingsChange = Partial<Omit<QueueDefinition, "producers" | "consumer">>;

export interface QueueChange {
  /**
   * The revision of the record that the change was made from: the change is refused if there is another one by now.
   * Default: any revision.
   */
  readonly basedOn?: number;
  readonly settings?: QueueSettingsChange;
  /** Replaces what is kept for each dialect that is named. */
  readonly dialects?: Readonly<Record<string, unknown>>;
}

/** Why the directory refuses a call. Each dialect has its own words for it. */
export type DirectoryRefusal =
  | { readonly kind: "queueNotFound" }
  /** Conflict: another caller has changed the queue since the record was read that the change was made from. */
  | { readonly kind: "changedMeanwhile" }
  | { readonly kind: "queueNameTaken"; readonly name: string }
  | { readonly kind: "tooManyQueues" }
  | { readonly kind: "consumerExists"; readonly name: string; readonly queueId: string }
  | { readonly kind: "consumerNotFound" }
  /** Dead letters would go in a circle: the queues of it, in order. */
  | { readonly kind: "deadLetterCycle"; readonly queues: readonly string[] }
  /** Dead letters would leave the jurisdiction of their queue. */
  | { readonly kind: "otherJurisdiction"; readonly queue: string; readonly deadLetterQueue: string }
  /** A queue can have only one shard: a FIFO queue by its deduplication scope, or one with a worker daemon. */
  | { readonly kind: "shardsRefused"; readonly reason: "deduplicationScope" | "workerDaemon" }
  | { readonly kind: "subscriptionNotFound" }
  /** There is a subscription for this source already. */
  | { readonly kind: "sourceSubscribed" }
  /** A queue would be notified of a write to a bucket twice. */
  | { readonly kind: "r2RulesOverlap" }
  | { readonly kind: "r2RulesTooMany" }
  | { readonly kind: "r2RuleNotFound" };

export type DirectoryReply =
  | { readonly ok: true; readonly record: QueueRecord }
  | { readonly ok: false; readonly refusal: DirectoryRefusal };

/**
 * Events of some source that are to be sent to a queue (spec cloudflare-queues 6.6). A contract: it is stored. Only
 * optional members may be added.
 */
export interface Subscription extends NewSubscription {
  /** 32 hexadecimal digits, random. */
  readonly id: string;
  readonly createdAtMs: number;
  readonly modifiedAtMs: number;
}

export interface NewSubscription {
  readonly name: string;
  readonly enabled: boolean;
  /** Its `type`, and the members that distinguish it from others of that type. */
  readonly source: Readonly<Record<string, string>>;
  readonly queueId: string;
  readonly events: readonly string[];
}

export type SubscriptionChange = Partial<Omit<NewSubscription, "source">>;

export type SubscriptionReply =
  | { readonly ok: true; readonly subscription: Subscription }
  | { readonly ok: false; readonly refusal: DirectoryRefusal };

/** When a queue was emptied last, in ms since 1970. */
export interface PurgeRecord {
  readonly startedMs: number;
  /** `null` while it runs, or when it failed. */
  readonly completedMs: number | null;
}

/**
 * Methods of the directory that the gateway calls. When a change is answered it is durable, and the queue's object has
 * applied it. If the object cannot be reached, the directory notifies it as soon as it can be.
 */
export interface DirectoryRpc {
  /** Every queue, in order of names. */
  list(): Promise<readonly QueueRecord[]>;
  findByName(name: string): Promise<QueueRecord | null>;
  /** Finds the jurisdiction that a queue's object is made in; `null` if it may be anywhere, or there is no queue. */
  placeOf(name: string): Promise<Jurisdiction | null>;
  findById(queueId: string): Promise<QueueRecord | null>;
  /**
   * Creates a queue, whole or not at all. Refused: `queueNameTaken`, `tooManyQueues`, `deadLetterCycle`,
   * `otherJurisdiction`, `shardsRefused`, and `changedMeanwhile` while an object elsewhere still holds messages of a
   * deleted queue.
   */
  createQueue(queue: NewQueue): Promise<DirectoryReply>;
  /** Refused: `queueNotFound`, `changedMeanwhile`, `otherJurisdiction`, `shardsRefused`. */
  changeQueue(queueId: string, change: QueueChange): Promise<DirectoryReply>;
  /** Deletes a queue with everything in it, and answers with what it was. Refused: `queueNotFound`. */
  deleteQueue(queueId: string): Promise<DirectoryReply>;
  /**
   * Gives a queue its consumer; a dead-letter queue that does not exist is created. Refused: `queueNotFound`,
   * `consumerExists`, `deadLetterCycle`, `otherJurisdiction`, `tooManyQueues`, `shardsRefused`.
   *
   * @param consumerId the consumer to replace, or to create under this id; `null` creates one.
   */
  setConsumer(
    queueId: string,
    consumerId: string | null,
    consumer: ConsumerDefinition,
  ): Promise<DirectoryReply>;
  /** Refused: `queueNotFound`, `consumerNotFound`. */
  removeConsumer(queueId: string, consumerId: string): Promise<DirectoryReply>;
  /** Every subscription, oldest first. */
  listSubscriptions(): Promise<readonly Subscription[]>;
  /** Refused: `queueNotFound`, `sourceSubscribed`. */
  createSubscription(subscription: NewSubscription): Promise<SubscriptionReply>;
  /** Refused: `subscriptionNotFound`, `queueNotFound`. */
  changeSubscription(id: string, change: SubscriptionChange): Promise<SubscriptionReply>;
  /** Answers with what it was. Refused: `subscriptionNotFound`. */
  deleteSubscription(id: string): Promise<SubscriptionReply>;
  /** Notes a purge of a queue; the queue itself carries it out. */
  notePurge(queueId: string, purge: PurgeRecord): Promise<void>;
  lastPurge(queueId: string): Promise<PurgeRecord | null>;
  /**
   * When the last queue of that name was deleted, in ms; `null` if that is more than `NAME_KEPT_MS` ago or never was.
   */
  lastDeletion(name: string): Promise<number | null>;
  /** The idle queues whose objects sleep now. A change is seen some seconds late. */
  atRest(): Promise<readonly QueueAtRest[]>;
  /** Fingerprint of the deployed topology that the directory has applied (`topologyFingerprint`). */
  deployed(): Promise<string>;
}
