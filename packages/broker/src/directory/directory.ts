import { DurableObject } from "cloudflare:workers";
import {
  ACTORS,
  type AuditEntry,
  alertsTrouble,
  type ClockSetting,
  type Confirmation,
  type ConsumerDefinition,
  type DirectoryReply,
  isHiddenQueue,
  isTopicObject,
  type Jurisdiction,
  type NewQueue,
  type NewSubscription,
  type NewToken,
  type NewTopic,
  type NewTopicSubscription,
  type PurgeRecord,
  type QueueAtRest,
  type QueueChange,
  type QueueRecord,
  type QueueTopology,
  type R2Bucket,
  type R2Reply,
  type R2Rule,
  type R2Write,
  REAL_TIME,
  type SigningIdentity,
  type SnsSettings,
  type Subscription,
  type SubscriptionChange,
  type SubscriptionReply,
  type TokenRecord,
  type TokenReply,
  type TokenSecret,
  type TopicChange,
  type TopicRecord,
  type TopicReply,
  type TopicSnapshot,
  type TopicSubscription,
  type TopicSubscriptionChange,
  type TopicSubscriptionReply,
  topicObjectName,
  topologyFingerprint,
} from "@sluice/protocol";
import type { HostClock } from "../platform/clock.ts";
import { type Host, type HostOf, workersHost } from "../platform/host.ts";
import type { CommitPosition } from "../rpc/commit-position.ts";
import type { DirectoryObject, Opened } from "../rpc/directory-object.ts";
import type { Undeliverable } from "../rpc/transfer.ts";
import { applyTopology } from "./apply-topology.ts";
import { createWithConsumer, removeConsumer, setConsumer } from "./consumers.ts";
import { type DirectoryEnv, type DirectoryParts, directoryParts } from "./directory-parts.ts";
import { changeQueue, deleteQueue, ensureQueue, warnOfUnplaced } from "./queues.ts";
import { type QueueRow, shownRecord } from "./row.ts";
import { undeliverableTo } from "./topics/topic-registry.ts";
import * as topicSubscriptions from "./topics/topic-subscriptions.ts";

function shownOrNull(row: QueueRow | undefined): QueueRecord | null {
  return row === undefined ? null : shownRecord(row);
}

interface DirectoryOptions {
  readonly topology: QueueTopology;
  /** Clock for deadlines on Workers. Default: the platform's. */
  readonly clock?: HostClock;
  /** Finds the host of the object. Default: that of Workers, with `clock`. */
  readonly hostOf?: HostOf;
}

/**
 * Makes the Durable Object class of the directory, which keeps the queues, their settings and their positions. It is
 * deployed with the topology, which it applies at the first call after a deployment.
 */
export function createDirectory({ topology, clock, hostOf = workersHost(clock) }: DirectoryOptions) {
  /** Lines about the configuration, which are logged once: the object starts anew after each rest. */
  const logged = new Set<string>();
  return class Directory extends DurableObject<DirectoryEnv> implements DirectoryObject {
    readonly #host: Host<DirectoryEnv>;
    readonly #parts: DirectoryParts;
    #deployed = "";

    constructor(ctx: DurableObjectState, env: DirectoryEnv) {
      super(ctx, env);
      this.#host = hostOf(ctx, env);
      this.#parts = directoryParts(this.#host, topology);
      void this.#host.blockConcurrencyWhile(() => this.#deploy());
    }

    async list(): Promise<readonly QueueRecord[]> {
      return this.#parts.registry.list();
    }

    async findByName(name: string): Promise<QueueRecord | null> {
      return isHiddenQueue(name) ? null : shownOrNull(this.#parts.registry.queue(name));
    }

    async placeOf(name: string): Promise<Jurisdiction | null> {
      return this.#parts.registry.queue(name)?.record.place ?? null;
    }

    async findById(queueId: string): Promise<QueueRecord | null> {
      return shownOrNull(this.#parts.registry.queueById(queueId));
    }

    createQueue(queue: NewQueue): Promise<DirectoryReply> {
      return this.#parts.changes.change(() => createWithConsumer(this.#parts.registry, queue));
    }

    changeQueue(queueId: string, change: QueueChange): Promise<DirectoryReply> {
      return this.#parts.changes.change(() => changeQueue(this.#parts.registry, queueId, change));
    }

    deleteQueue(queueId: string): Promise<DirectoryReply> {
      return this.#parts.changes.change(() => {
        const reply = deleteQueue(this.#parts.registry, queueId);
        if (reply.ok) this.#forgetQueue(queueId, reply.record.name);
        return reply;
      });
    }

    setConsumer(
      queueId: string,
      consumerId: string | null,
      consumer: ConsumerDefinition,
    ): Promise<DirectoryReply> {
      return this.#parts.changes.change(() =>
        setConsumer(this.#parts.registry, queueId, consumerId, consumer),
      );
    }

    removeConsumer(queueId: string, consumerId: string): Promise<DirectoryReply> {
      return this.#parts.changes.change(() => removeConsumer(this.#parts.registry, queueId, consumerId));
    }

    async listSubscriptions(): Promise<readonly Subscription[]> {
      return this.#parts.subscriptions.list();
    }

    async createSubscription(subscription: NewSubscription): Promise<SubscriptionReply> {
      const queue = this.#parts.registry.queueById(subscription.queueId);
      if (queue === undefined) return { ok: false, refusal: { kind: "queueNotFound" } };
      return this.#parts.subscriptions.create(subscription);
    }

    async changeSubscription(id: string, change: SubscriptionChange): Promise<SubscriptionReply> {
      const { queueId } = change;
      if (queueId !== undefined && this.#parts.registry.queueById(queueId) === undefined) {
        return { ok: false, refusal: { kind: "queueNotFound" } };
      }
      return this.#parts.subscriptions.change(id, change);
    }

    async deleteSubscription(id: string): Promise<SubscriptionReply> {
      return this.#parts.subscriptions.delete(id);
    }

    async listR2Buckets(): Promise<readonly R2Bucket[]> {
      return this.#parts.r2.list();
    }

    async addR2Rules(bucket: string, queueId: string, rules: readonly R2Rule[]): Promise<R2Reply> {
      return this.#parts.r2.add(bucket, queueId, rules);
    }

    async deleteR2Rules(
      bucket: string,
      queueId: string,
      ruleIds: readonly string[] | null,
    ): Promise<R2Reply> {
      return this.#parts.r2.delete(bucket, queueId, ruleIds);
    }

    takeR2Writes(account: string, bucket: string, writes: readonly R2Write[]): Promise<number> {
      return this.#parts.r2.take(account, bucket, writes);
    }

    async notePurge(queueId: string, purge: PurgeRecord): Promise<void> {
      this.#parts.purges.note(queueId, purge);
    }

    async lastPurge(queueId: string): Promise<PurgeRecord | null> {
      return this.#parts.purges.last(queueId);
    }

    async lastDeletion(name: string): Promise<number | null> {
      return this.#parts.deletions.last(name, this.#host.systemMs());
    }

    async listTokens(): Promise<readonly TokenRecord[]> {
      return this.#parts.tokens.list();
    }

    async createToken(token: NewToken): Promise<TokenReply> {
      return this.#parts.tokens.create(token);
    }

    async rotateToken(name: string, secret: TokenSecret, graceMs: number): Promise<TokenReply> {
      return this.#parts.tokens.rotate(name, secret, graceMs);
    }

    async deleteToken(name: string): Promise<TokenReply> {
      return this.#parts.tokens.delete(name);
    }

    async noteAudit(entry: AuditEntry): Promise<void> {
      this.#parts.audit.note(entry);
    }

    async readAudit(max: number, before: number | null) {
      return this.#parts.audit.read(max, before);
    }

    async listTopics(): Promise<readonly TopicRecord[]> {
      return this.#parts.topics.registry.topics();
    }

    async findTopic(arn: string): Promise<TopicSnapshot | null> {
      this.#sweep();
      return this.#parts.topics.registry.snapshot(arn);
    }

    createTopic(topic: NewTopic): Promise<TopicReply> {
      return this.#parts.changes.changeMany(() => this.#parts.topics.create(topic));
    }

    changeTopic(arn: string, change: TopicChange): Promise<TopicReply> {
      return this.#parts.changes.changeMany(() => this.#parts.topics.change(arn, change));
    }

    deleteTopic(arn: string): Promise<TopicReply> {
      return this.#parts.changes.changeMany(() => this.#parts.topics.delete(arn));
    }

    async listTopicSubscriptions(): Promise<readonly TopicSubscription[]> {
      this.#sweep();
      return this.#parts.topics.registry.subscriptions().filter(({ status }) => status.kind !== "ended");
    }

    async findTopicSubscription(arn: string): Promise<TopicSubscription | null> {
      this.#sweep();
      const found = this.#parts.topics.registry.subscription(arn);
      return found === undefined || found.status.kind === "ended" ? null : found;
    }

    subscribe(subscription: NewTopicSubscription): Promise<TopicSubscriptionReply> {
      this.#sweep();
      return this.#parts.changes.changeMany(() =>
        topicSubscriptions.subscribe(this.#parts.topics, subscription),
      );
    }

    renewToken(arn: string, token: string): Promise<TopicSubscriptionReply> {
      return this.#parts.changes.changeMany(() =>
        topicSubscriptions.renewToken(this.#parts.topics, arn, token),
      );
    }

    confirmSubscription(confirmation: Confirmation): Promise<TopicSubscriptionReply> {
      this.#sweep();
      return this.#parts.changes.changeMany(() =>
        topicSubscriptions.confirm(this.#parts.topics, confirmation),
      );
    }

    changeTopicSubscription(arn: string, change: TopicSubscriptionChange): Promise<TopicSubscriptionReply> {
      return this.#parts.changes.changeMany(() =>
        topicSubscriptions.changeSubscription(this.#parts.topics, arn, change),
      );
    }

    unsubscribe(arn: string, undoToken: string | null): Promise<TopicSubscriptionReply> {
      return this.#parts.changes.changeMany(() =>
        topicSubscriptions.unsubscribe(this.#parts.topics, arn, undoToken),
      );
    }

    async snsSettings(): Promise<SnsSettings> {
      return topology.sns ?? {};
    }

    async signingIdentity(): Promise<SigningIdentity | null> {
      return this.#parts.topics.signingIdentity();
    }

    async keepSigningIdentity(identity: SigningIdentity): Promise<SigningIdentity> {
      return this.#parts.transaction(() => this.#parts.topics.keepSigningIdentity(identity));
    }

    async hiddenObjects(): Promise<readonly string[]> {
      const topics = this.#parts.topics.registry.topics().map(({ topicId }) => topicObjectName(topicId));
      return [...this.#parts.registry.hidden().map(({ name }) => name), ...topics];
    }

    async undeliverable(topicObject: string, queue: string): Promise<Undeliverable> {
      return undeliverableTo(this.#parts.topics.registry, topicObject, queue);
    }

    async deployed(): Promise<string> {
      return this.#deployed;
    }

    async opened(queue: string, copy: QueueRecord | null): Promise<Opened> {
      const clock = this.#parts.clock.read();
      return {
        position: this.#parts.positions.read(queue),
        ...this.#parts.changes.opened(queue, copy),
        isIdle: this.#parts.snapshots.started(queue),
        ...(isTopicObject(queue) ? { topicVersion: this.#parts.topics.registry.versionOfObject(queue) } : {}),
        ...(clock === undefined ? {} : { clock }),
      };
    }

    async clock(): Promise<ClockSetting> {
      return this.#parts.clock.read() ?? REAL_TIME;
    }

    async advanceClock(ms: number): Promise<ClockSetting> {
      return this.#parts.clock.change((clock) => clock.advance(ms));
    }

    async freezeClock(isFrozen: boolean): Promise<ClockSetting> {
      return this.#parts.clock.change((clock) => (isFrozen ? clock.freeze(clock.now()) : clock.follow()));
    }

    async ensureQueue(queue: string, jurisdiction: Jurisdiction | null = null): Promise<DirectoryReply> {
      // Needs no notice, since the queue's object itself makes this call.
      return this.#parts.transaction(() => ensureQueue(this.#parts.registry, queue, jurisdiction));
    }

    async report(
      queue: string,
      position: CommitPosition,
      snapshot: QueueAtRest | null,
    ): Promise<CommitPosition | null> {
      return this.#parts.positions.raise(queue, position, this.#parts.snapshots.reported(queue, snapshot));
    }

    async atRest(): Promise<readonly QueueAtRest[]> {
      return this.#parts.snapshots.list();
    }

    /** Sends pending notices. Never throws: after six failures in a row the platform would drop the alarm for ever. */
    override async alarm(): Promise<void> {
      await this.#parts.changes.notifyAll();
    }

    clockWasSet(_name: string): Promise<void> {
      return this.#parts.changes.notifyAll();
    }

    #forgetQueue(queueId: string, name: string): void {
      for (const bucket of this.#parts.r2.deleteOf(queueId)) {
        this.#host.log.warn(`Directory: the rules of R2 bucket "${bucket}" end with their queue "${name}"`);
      }
      this.#parts.purges.forget(queueId);
      this.#parts.deletions.note(name, this.#host.systemMs());
      for (const subscription of this.#parts.subscriptions.deleteOf(queueId)) {
        this.#host.log.warn(
          `Directory: the subscription "${subscription.name}" ends with its queue "${name}"`,
        );
      }
    }

    async #deploy(): Promise<void> {
      this.#deployed = await topologyFingerprint(topology);
      if (topology.r2Notifications !== undefined && this.#host.env.SLUICE_R2 === undefined) {
        this.#warnOnce("[[sluice.r2_notifications]] has no effect here: sluice dev sees the writes");
      }
      const trouble = alertsTrouble({ ...this.#host.env }, topology);
      if (trouble !== null) this.#warnOnce(`no alert is sent: ${trouble}`);
      this.#parts.changes.start(this.#parts.rows.deployed === this.#deployed, () => {
        const warn = (line: string) => this.#host.log.warn(`Directory: ${line}`);
        applyTopology(this.#parts.registry, topology, warn);
        this.#parts.r2.configure(topology.r2Notifications ?? []);
        this.#parts.topics.applySettings();
        warnOfUnplaced(this.#parts.registry, warn);
        this.#parts.rows.deployed = this.#deployed;
        this.#parts.audit.note({
          action: "deploy",
          target: null,
          by: ACTORS.configuration,
          dialect: "configuration",
        });
      });
      for (const name of this.#parts.registry.deletedOfConfiguration) {
        this.#warnOnce(
          `queue "${name}" is deleted, though the configuration names it: sends to it are refused. ` +
            `"sluice queues create ${name}" brings it back`,
        );
      }
    }

    #warnOnce(line: string): void {
      if (!logged.has(line)) this.#host.log.warn(`Directory: ${line}`);
      logged.add(line);
    }

    #sweep(): void {
      if (!topicSubscriptions.isSweepDue(this.#parts.topics)) return;
      this.#parts.transaction(() => topicSubscriptions.sweep(this.#parts.topics));
      void this.#parts.changes.notifyAll();
    }
  };
}
