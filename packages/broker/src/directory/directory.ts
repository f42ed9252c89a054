import { DurableObject } from "cloudflare:workers";
import {
  ACTORS,
  type AuditEntry,
  type ClockSetting,
  type Confirmation,
  type ConsumerDefinition,
  type DirectoryReply,
  hasJurisdictions,
  inPlace,
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
import { alarmMsAfter, clockStartMsOf, type HostClock } from "../platform/clock.ts";
import { type Host, type HostOf, workersHost } from "../platform/host.ts";
import { newId } from "../platform/new-id.ts";
import type { CommitPosition } from "../rpc/commit-position.ts";
import type { DirectoryObject, Opened } from "../rpc/directory-object.ts";
import type { ConfiguredQueueObject } from "../rpc/queue-object.ts";
import type { Undeliverable } from "../rpc/transfer.ts";
import { applyTopology } from "./apply-topology.ts";
import { AuditRows } from "./audit-rows.ts";
import { Changes } from "./changes.ts";
import { ClockRow } from "./clock-row.ts";
import { CommitPositions } from "./commit-positions.ts";
import { createWithConsumer, removeConsumer, setConsumer } from "./consumers.ts";
import { Deletions } from "./deletions.ts";
import { IdleSnapshots } from "./idle-snapshots.ts";
import { Notices } from "./notices.ts";
import { Purges } from "./purges.ts";
import { changeQueue, deleteQueue, ensureQueue, warnOfUnplaced } from "./queues.ts";
import { R2Buckets } from "./r2-buckets.ts";
import { Registry } from "./registry.ts";
import { DirectoryRows } from "./rows.ts";
import { Subscriptions } from "./subscriptions.ts";
import { Tokens } from "./tokens.ts";
import { TopicNotices } from "./topics/topic-notices.ts";
import { undeliverableTo } from "./topics/topic-registry.ts";
import { TopicRows } from "./topics/topic-rows.ts";
import * as topicSubscriptions from "./topics/topic-subscriptions.ts";
import { TopicVersions } from "./topics/topic-versions.ts";
import { Topics } from "./topics/topics.ts";

interface DirectoryEnv {
  readonly SLUICE_QUEUES?: DurableObjectNamespace<ConfiguredQueueObject>;
  readonly SLUICE_CLOCK_START?: string;
  readonly SLUICE_R2?: string;
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
  return class Directory extends DurableObject<DirectoryEnv> implements DirectoryObject {
    readonly #host: Host<DirectoryEnv>;
    readonly #positions: CommitPositions;
    readonly #snapshots: IdleSnapshots;
    readonly #rows: DirectoryRows;
    readonly #subscriptions: Subscriptions;
    readonly #purges: Purges;
    readonly #clock: ClockRow;
    readonly #deletions: Deletions;
    readonly #registry: Registry;
    readonly #changes: Changes;
    readonly #topics: Topics;
    readonly #tokens: Tokens;
    readonly #r2: R2Buckets;
    readonly #audit: AuditRows;
    #deployed = "";

    constructor(ctx: DurableObjectState, env: DirectoryEnv) {
      super(ctx, env);
      const host = hostOf(ctx, env);
      this.#host = host;
      const { sql } = host.storage;
      const now = () => host.systemMs();
      const warn = (line: string) => host.log.warn(`Directory: ${line}`);
      this.#positions = new CommitPositions(sql);
      this.#snapshots = new IdleSnapshots(this.#positions, now);
      this.#rows = new DirectoryRows(sql);
      this.#subscriptions = new Subscriptions(sql);
      this.#purges = new Purges(sql);
      this.#clock = new ClockRow(sql, clockStartMsOf(env));
      this.#deletions = new Deletions(sql);
      this.#tokens = new Tokens(sql, now);
      this.#audit = new AuditRows(sql, now);
      this.#registry = new Registry(this.#rows.all(), {
        save: (row) => this.#rows.save(row),
        erase: (name) => this.#rows.delete(name),
        now,
        newId,
        hasJurisdictions: hasJurisdictions(host.env.SLUICE_QUEUES ?? {}),
      });
      this.#topics = new Topics(new TopicRows(sql), new TopicVersions(sql, now), {
        queues: this.#registry,
        settings: topology.sns ?? {},
        now,
        newId,
        warn,
      });
      this.#r2 = new R2Buckets(sql, {
        queueById: (queueId) => this.#registry.queueById(queueId)?.record,
        queueByName: (name) => this.#registry.queue(name)?.record,
        take: async ({ name, place }, transfer) => this.#object(name, place).take(name, transfer),
        newId,
        now,
        warn,
      });
      const notices = new Notices(this.#registry, {
        configure: async (name, record) => this.#object(name, record.place).configure(name, record),
        clear: async ({ name, revision, place }) => this.#object(name, place).clear(name, revision),
        transaction: (write) => this.#transaction(write),
        warn,
      });
      const topicNotices = new TopicNotices(this.#topics.registry, {
        topicChanged: async (name, version) => this.#object(name).topicChanged(name, version),
        transaction: (write) => this.#transaction(write),
        warn,
      });
      this.#changes = new Changes(this.#registry, notices, [topicNotices], {
        transaction: (write) => this.#transaction(write),
        wakeAfter: (ms) =>
          ms === null ? host.storage.deleteAlarm() : host.storage.setAlarm(alarmMsAfter(host.clock, ms)),
        after: (ms) => new Promise((resolve) => void host.after(resolve, ms)),
      });
      void host.blockConcurrencyWhile(() => this.#deploy());
    }

    async list(): Promise<readonly QueueRecord[]> {
      return this.#registry.list();
    }

    async findByName(name: string): Promise<QueueRecord | null> {
      return isHiddenQueue(name) ? null : (this.#registry.queue(name)?.record ?? null);
    }

    async placeOf(name: string): Promise<Jurisdiction | null> {
      return this.#registry.queue(name)?.record.place ?? null;
    }

    async findById(queueId: string): Promise<QueueRecord | null> {
      return this.#registry.queueById(queueId)?.record ?? null;
    }

    createQueue(queue: NewQueue): Promise<DirectoryReply> {
      return this.#changes.change(() => createWithConsumer(this.#registry, queue));
    }

    changeQueue(queueId: string, change: QueueChange): Promise<DirectoryReply> {
      return this.#changes.change(() => changeQueue(this.#registry, queueId, change));
    }

    deleteQueue(queueId: string): Promise<DirectoryReply> {
      return this.#changes.change(() => {
        const reply = deleteQueue(this.#registry, queueId);
        if (reply.ok) this.#forgetQueue(queueId, reply.record.name);
        return reply;
      });
    }

    setConsumer(
      queueId: string,
      consumerId: string | null,
      consumer: ConsumerDefinition,
    ): Promise<DirectoryReply> {
      return this.#changes.change(() => setConsumer(this.#registry, queueId, consumerId, consumer));
    }

    removeConsumer(queueId: string, consumerId: string): Promise<DirectoryReply> {
      return this.#changes.change(() => removeConsumer(this.#registry, queueId, consumerId));
    }

    async listSubscriptions(): Promise<readonly Subscription[]> {
      return this.#subscriptions.list();
    }

    async createSubscription(subscription: NewSubscription): Promise<SubscriptionReply> {
      const queue = this.#registry.queueById(subscription.queueId);
      if (queue === undefined) return { ok: false, refusal: { kind: "queueNotFound" } };
      return this.#subscriptions.create(subscription);
    }

    async changeSubscription(id: string, change: SubscriptionChange): Promise<SubscriptionReply> {
      const { queueId } = change;
      if (queueId !== undefined && this.#registry.queueById(queueId) === undefined) {
        return { ok: false, refusal: { kind: "queueNotFound" } };
      }
      return this.#subscriptions.change(id, change);
    }

    async deleteSubscription(id: string): Promise<SubscriptionReply> {
      return this.#subscriptions.delete(id);
    }

    async listR2Buckets(): Promise<readonly R2Bucket[]> {
      return this.#r2.list();
    }

    async addR2Rules(bucket: string, queueId: string, rules: readonly R2Rule[]): Promise<R2Reply> {
      return this.#r2.add(bucket, queueId, rules);
    }

    async deleteR2Rules(
      bucket: string,
      queueId: string,
      ruleIds: readonly string[] | null,
    ): Promise<R2Reply> {
      return this.#r2.delete(bucket, queueId, ruleIds);
    }

    takeR2Writes(account: string, bucket: string, writes: readonly R2Write[]): Promise<number> {
      return this.#r2.take(account, bucket, writes);
    }

    async notePurge(queueId: string, purge: PurgeRecord): Promise<void> {
      this.#purges.note(queueId, purge);
    }

    async lastPurge(queueId: string): Promise<PurgeRecord | null> {
      return this.#purges.last(queueId);
    }

    async lastDeletion(name: string): Promise<number | null> {
      return this.#deletions.last(name, this.#host.systemMs());
    }

    async listTokens(): Promise<readonly TokenRecord[]> {
      return this.#tokens.list();
    }

    async createToken(token: NewToken): Promise<TokenReply> {
      return this.#tokens.create(token);
    }

    async rotateToken(name: string, secret: TokenSecret, graceMs: number): Promise<TokenReply> {
      return this.#tokens.rotate(name, secret, graceMs);
    }

    async deleteToken(name: string): Promise<TokenReply> {
      return this.#tokens.delete(name);
    }

    async noteAudit(entry: AuditEntry): Promise<void> {
      this.#audit.note(entry);
    }

    async readAudit(max: number, before: number | null) {
      return this.#audit.read(max, before);
    }

    async listTopics(): Promise<readonly TopicRecord[]> {
      return this.#topics.registry.topics();
    }

    async findTopic(arn: string): Promise<TopicSnapshot | null> {
      this.#sweep();
      return this.#topics.registry.snapshot(arn);
    }

    createTopic(topic: NewTopic): Promise<TopicReply> {
      return this.#changes.changeMany(() => this.#topics.create(topic));
    }

    changeTopic(arn: string, change: TopicChange): Promise<TopicReply> {
      return this.#changes.changeMany(() => this.#topics.change(arn, change));
    }

    deleteTopic(arn: string): Promise<TopicReply> {
      return this.#changes.changeMany(() => this.#topics.delete(arn));
    }

    async listTopicSubscriptions(): Promise<readonly TopicSubscription[]> {
      this.#sweep();
      return this.#topics.registry.subscriptions().filter(({ status }) => status.kind !== "ended");
    }

    async findTopicSubscription(arn: string): Promise<TopicSubscription | null> {
      this.#sweep();
      const found = this.#topics.registry.subscription(arn);
      return found === undefined || found.status.kind === "ended" ? null : found;
    }

    subscribe(subscription: NewTopicSubscription): Promise<TopicSubscriptionReply> {
      this.#sweep();
      return this.#changes.changeMany(() => topicSubscriptions.subscribe(this.#topics, subscription));
    }

    renewToken(arn: string, token: string): Promise<TopicSubscriptionReply> {
      return this.#changes.changeMany(() => topicSubscriptions.renewToken(this.#topics, arn, token));
    }

    confirmSubscription(confirmation: Confirmation): Promise<TopicSubscriptionReply> {
      this.#sweep();
      return this.#changes.changeMany(() => topicSubscriptions.confirm(this.#topics, confirmation));
    }

    changeTopicSubscription(arn: string, change: TopicSubscriptionChange): Promise<TopicSubscriptionReply> {
      return this.#changes.changeMany(() => topicSubscriptions.changeSubscription(this.#topics, arn, change));
    }

    unsubscribe(arn: string, undoToken: string | null): Promise<TopicSubscriptionReply> {
      return this.#changes.changeMany(() => topicSubscriptions.unsubscribe(this.#topics, arn, undoToken));
    }

    async snsSettings(): Promise<SnsSettings> {
      return topology.sns ?? {};
    }

    async signingIdentity(): Promise<SigningIdentity | null> {
      return this.#topics.signingIdentity();
    }

    async keepSigningIdentity(identity: SigningIdentity): Promise<SigningIdentity> {
      return this.#transaction(() => this.#topics.keepSigningIdentity(identity));
    }

    async hiddenObjects(): Promise<readonly string[]> {
      const topics = this.#topics.registry.topics().map(({ topicId }) => topicObjectName(topicId));
      return [...this.#registry.hidden().map(({ name }) => name), ...topics];
    }

    async undeliverable(topicObject: string, queue: string): Promise<Undeliverable> {
      return undeliverableTo(this.#topics.registry, topicObject, queue);
    }

    async deployed(): Promise<string> {
      return this.#deployed;
    }

    async opened(queue: string, copy: QueueRecord | null): Promise<Opened> {
      const clock = this.#clock.read();
      return {
        position: this.#positions.read(queue),
        ...this.#changes.opened(queue, copy),
        isIdle: this.#snapshots.started(queue),
        ...(isTopicObject(queue) ? { topicVersion: this.#topics.registry.versionOfObject(queue) } : {}),
        ...(clock === undefined ? {} : { clock }),
      };
    }

    async clock(): Promise<ClockSetting> {
      return this.#clock.read() ?? REAL_TIME;
    }

    async advanceClock(ms: number): Promise<ClockSetting> {
      return this.#clock.change((clock) => clock.advance(ms));
    }

    async freezeClock(isFrozen: boolean): Promise<ClockSetting> {
      return this.#clock.change((clock) => (isFrozen ? clock.freeze(clock.now()) : clock.follow()));
    }

    async ensureQueue(queue: string, jurisdiction: Jurisdiction | null = null): Promise<DirectoryReply> {
      // Needs no notice, since the queue's object itself makes this call.
      return this.#transaction(() => ensureQueue(this.#registry, queue, jurisdiction));
    }

    async report(
      queue: string,
      position: CommitPosition,
      snapshot: QueueAtRest | null,
    ): Promise<CommitPosition | null> {
      return this.#positions.raise(queue, position, this.#snapshots.reported(queue, snapshot));
    }

    async atRest(): Promise<readonly QueueAtRest[]> {
      return this.#snapshots.list();
    }

    /** Sends pending notices. Never throws: after six failures in a row the platform would drop the alarm for ever. */
    override async alarm(): Promise<void> {
      await this.#changes.notifyAll();
    }

    clockWasSet(_name: string): Promise<void> {
      return this.#changes.notifyAll();
    }

    /** Returns the object of a queue or a topic. @param place jurisdiction that it is made in. */
    #object(name: string, place?: Jurisdiction): DurableObjectStub<ConfiguredQueueObject> {
      const { SLUICE_QUEUES: namespace } = this.#host.env;
      if (namespace === undefined) throw new Error("the binding SLUICE_QUEUES is missing");
      const there = inPlace(namespace, place);
      return there.get(there.idFromName(name));
    }

    #forgetQueue(queueId: string, name: string): void {
      for (const bucket of this.#r2.deleteOf(queueId)) {
        this.#host.log.warn(`Directory: the rules of R2 bucket "${bucket}" end with their queue "${name}"`);
      }
      this.#purges.forget(queueId);
      this.#deletions.note(name, this.#host.systemMs());
      for (const subscription of this.#subscriptions.deleteOf(queueId)) {
        this.#host.log.warn(
          `Directory: the subscription "${subscription.name}" ends with its queue "${name}"`,
        );
      }
    }

    async #deploy(): Promise<void> {
      this.#deployed = await topologyFingerprint(topology);
      if (topology.r2Notifications !== undefined && this.#host.env.SLUICE_R2 === undefined) {
        this.#host.log.warn(
          "Directory: [[sluice.r2_notifications]] has no effect here: sluice dev sees the writes",
        );
      }
      this.#changes.start(this.#rows.deployed === this.#deployed, () => {
        const warn = (line: string) => this.#host.log.warn(`Directory: ${line}`);
        applyTopology(this.#registry, topology, warn);
        this.#r2.configure(topology.r2Notifications ?? []);
        this.#topics.applySettings();
        warnOfUnplaced(this.#registry, warn);
        this.#rows.deployed = this.#deployed;
        this.#audit.note({
          action: "deploy",
          target: null,
          by: ACTORS.configuration,
          dialect: "configuration",
        });
      });
    }

    #sweep(): void {
      if (!topicSubscriptions.isSweepDue(this.#topics)) return;
      this.#transaction(() => topicSubscriptions.sweep(this.#topics));
      void this.#changes.notifyAll();
    }

    /** Makes all writes or none. On failure the object restarts, because memory may differ from the store. */
    #transaction<Result>(change: () => Result): Result {
      try {
        return this.#host.storage.transactionSync(change);
      } catch (error) {
        this.#host.abort(`a change could not be stored: ${error}`);
        throw error;
      }
    }
  };
}
