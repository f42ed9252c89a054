import { DurableObject } from "cloudflare:workers";
import type {
  BacklogMetrics,
  CancelMoveReply,
  ConsumerDefinition,
  DrainReply,
  EnqueueReply,
  EnqueueRequest,
  HttpPushSettings,
  MessageCounts,
  MoveTask,
  NewMove,
  PeekedBatch,
  PostReply,
  PublishReply,
  PublishRequest,
  PullReply,
  PullRequest,
  PullSettled,
  PullSettlement,
  PurgeReply,
  QueueBrokerRpc,
  QueueConsumerRpc,
  QueueDescription,
  QueuePostRpc,
  QueuePullRpc,
  QueueReceiveRpc,
  QueueRecord,
  QueueTopology,
  QueueWork,
  QueueWorkDone,
  ReceiveReply,
  ReceiveRequest,
  RefsDeleted,
  RpcFailure,
  SendReply,
  SendRequest,
  StartMoveReply,
  TopicDescription,
  TopicObjectRpc,
} from "@sluice/protocol";
import { isTopicObject, metricsText } from "@sluice/protocol";
import type { Clock } from "./clock.ts";
import {
  type ConfiguredQueueObject,
  DIRECTORY_NAME,
  type DirectoryObject,
  type QueuesDirectory,
} from "./directory/directory.ts";
import { EndpointCaller } from "./endpoint/endpoint-caller.ts";
import { EndpointConsumer } from "./endpoint/endpoint-consumer.ts";
import { formatOf } from "./endpoint/formats/index.ts";
import { httpPort } from "./endpoint/http-port.ts";
import { targetRulesOf } from "./endpoint/target.ts";
import { isFileDamage } from "./file-damage.ts";
import type { QueueLog } from "./log.ts";
import { nameIn, type OpenQueue, openQueue } from "./open-queue.ts";
import { passOn } from "./pass-on.ts";
import { deleteByRefs, peek } from "./peek.ts";
import type { ConsumerPort, HandOver, HandOverReply } from "./ports.ts";
import { pull } from "./pull.ts";
import type { QueueCore } from "./queue-core.ts";
import { QueueNotFoundError } from "./registration.ts";
import { settlePulled } from "./settle-pulled.ts";
import { FullStorages, isStorageFull, STORAGE_FULL } from "./storage-full.ts";
import {
  describeUnreadable,
  describeUnreadableTopic,
  UnreadableQueueError,
  UnwritableQueueError,
} from "./unreadable-queue.ts";

/** When the alarm rings again after what it called failed, in ms. */
const ALARM_AGAIN_MS = 1_000;
/** When a queue that cannot be read is tried again by its alarm, in ms. */
const OPEN_AGAIN_MS = 30_000;

/** Bindings of the broker Worker. */
export interface BrokerEnv {
  readonly SLUICE_QUEUES: DurableObjectNamespace<QueueBrokerObject>;
  readonly SLUICE_DIRECTORY: DurableObjectNamespace<DirectoryObject>;
  /**
   * `development` opens the HTTP API and allows to move the clock, `local` opens the API alone. Absent on a deployed broker.
   */
  readonly SLUICE_ENV?: string;
  /** Who brings one of these, separated by commas, may use the HTTP API. */
  readonly SLUICE_API_TOKENS?: string;
  /** Further names, separated by commas, that an open broker is reached by. */
  readonly SLUICE_ALLOWED_HOSTS?: string;
  /** Set by `sluice dev`: hosts of the primary Worker's routes, which Wrangler puts in the place of `localhost`. */
  readonly SLUICE_ROUTE_HOSTS?: string;
  /** Who signs with one of these, `KEY:SECRET` separated by commas, may use the AWS endpoint. */
  readonly SLUICE_AWS_ACCESS_KEYS?: string;
  /** Region and account in which queues have the names that Workers know them by. Default us-east-1, 000000000000. */
  readonly SLUICE_AWS_REGION?: string;
  readonly SLUICE_AWS_ACCOUNT_ID?: string;
  /** `true` lets a queue be purged, and the name of a deleted one be used again, only once in 60 s, as on AWS. */
  readonly SLUICE_AWS_STRICT_TIMING?: string;
  /** What `sluice serve` connects its front with. */
  readonly SLUICE_FRONT_TOKEN?: string;
  readonly [binding: string]: unknown;
}

/** What the broker is deployed with. */
export interface BrokerOptions {
  readonly topology: QueueTopology;
  /** Names of the service bindings to consumers' entrypoints, by Worker name. */
  readonly consumers: Readonly<Record<string, string>>;
}

/** A queue's Durable Object as its callers see it. */
export interface QueueBrokerObject
  extends QueueBrokerRpc,
    QueuePostRpc,
    QueuePullRpc,
    QueueReceiveRpc,
    TopicObjectRpc,
    ConfiguredQueueObject {
  take(queue: string, handOver: HandOver): Promise<HandOverReply>;
  /** Development only: moves this queue's clock forward. */
  advanceClock(queue: string, ms: number): Promise<void>;
}

/** The Durable Object class of a broker: one object per queue, named like it. It delegates; `QueueCore` decides. */
export function createQueueBroker(options: BrokerOptions) {
  const fullStorages = new FullStorages();
  /** Queues whose database file was found to be damaged, by the life before. */
  const suspectFiles = new Set<string>();

  return class QueueBroker extends DurableObject<BrokerEnv> implements QueueBrokerObject {
    #queue: OpenQueue | undefined;
    #opening: Promise<OpenQueue> | undefined;

    constructor(ctx: DurableObjectState, env: BrokerEnv) {
      super(ctx, env);
      // Calls wait until the queue is loaded. One that cannot be says so to each of them.
      void ctx.blockConcurrencyWhile(async () => {
        try {
          await this.#openKnown();
        } catch (error) {
          console.error(`Queue "${ctx.id.name}": ${error}`);
        }
      });
    }

    async send(queue: string, requests: readonly SendRequest[]): Promise<SendReply> {
      if (fullStorages.refuses(queue, Date.now())) return STORAGE_FULL;
      try {
        return await (this.#takingNow(queue) ?? (await this.#taking(queue))).send(requests);
      } catch (error) {
        return refusalOf(error);
      }
    }

    async post(queue: string, requests: readonly SendRequest[]): Promise<PostReply> {
      const reply = await this.send(queue, requests);
      return reply.ok ? metricsText(reply.metrics) : reply;
    }

    /** A queue that messages are handed over to is created if it does not exist (spec cloudflare-queues 4). */
    async take(queue: string, handOver: HandOver): Promise<HandOverReply> {
      const open = await this.#open(queue);
      if (open.unwritable !== null) throw open.unwritable;
      if (open.registration.definition === undefined) {
        if (isTopicObject(handOver.source)) return this.#passOn(open, handOver);
        const reply = await this.#directory().ensureQueue(queue);
        if (!reply.ok) throw new Error(`queue "${queue}" cannot be created: ${reply.refusal.kind}`);
        await open.adopt(reply.record);
      }
      return open.core.take(handOver);
    }

    async publish(topicObject: string, request: PublishRequest): Promise<PublishReply> {
      if (fullStorages.refuses(topicObject, Date.now())) return STORAGE_FULL;
      try {
        const { core, unwritable } = await this.#open(topicObject);
        if (unwritable !== null) throw unwritable;
        return await core.topic.publish(request);
      } catch (error) {
        return refusalOf(error);
      }
    }

    async topicChanged(topicObject: string, version: number | null): Promise<void> {
      (await this.#open(topicObject)).core.topic.changed(version);
    }

    async describeTopic(topicObject: string): Promise<TopicDescription> {
      try {
        return (await this.#open(topicObject)).core.topic.describe();
      } catch (error) {
        if (error instanceof UnreadableQueueError) return describeUnreadableTopic(error.message, Date.now());
        throw error;
      }
    }

    async enqueue(queue: string, request: EnqueueRequest): Promise<EnqueueReply> {
      if (fullStorages.refuses(queue, Date.now())) return STORAGE_FULL;
      try {
        const core = await this.#taking(queue);
        return this.#isOutdated(request) ? { ok: "outdated" } : await core.enqueue(request);
      } catch (error) {
        return refusalOf(error);
      }
    }

    async work(
      queue: string,
      { enqueue: request, ...others }: QueueWork,
    ): Promise<({ readonly ok: true } & QueueWorkDone) | RpcFailure> {
      try {
        const core = await this.#existing(queue);
        const refused = request === undefined ? undefined : this.#refusedSend(queue, request);
        const taken = request === undefined || refused !== undefined ? {} : { enqueue: request };
        const done = await core.work({ ...others, ...taken });
        return { ok: true, ...done, ...(refused === undefined ? {} : { enqueued: refused }) };
      } catch (error) {
        return refusalOf(error);
      }
    }

    async receive(queue: string, request: ReceiveRequest): Promise<ReceiveReply> {
      return (await this.#existing(queue)).receivers.receive(request);
    }

    async cancelReceive(queue: string, receiverId: string): Promise<void> {
      (await this.#existing(queue)).receivers.cancel(receiverId);
    }

    async giveBack(queue: string, receipts: readonly string[]): Promise<void> {
      await (await this.#existing(queue)).giveBack(receipts);
    }

    async messageCounts(queue: string): Promise<MessageCounts> {
      return (await this.#existing(queue)).messageCounts();
    }

    async startMove(queue: string, move: NewMove): Promise<StartMoveReply> {
      return (await this.#existing(queue)).moves.begin(move);
    }

    async cancelMove(queue: string, taskId: string): Promise<CancelMoveReply> {
      return (await this.#existing(queue)).moves.cancel(taskId);
    }

    async listMoves(queue: string): Promise<readonly MoveTask[]> {
      return (await this.#existing(queue)).moves.list();
    }

    /** Throws `QueueNotFoundError`. */
    async metrics(queue: string): Promise<BacklogMetrics> {
      return (await this.#existing(queue)).metrics();
    }

    async pull(queue: string, request: PullRequest): Promise<PullReply> {
      return this.#inTurn(queue, (core) => pull(core, request));
    }

    async settleLeases(queue: string, settlement: PullSettlement): Promise<PullSettled> {
      return this.#inTurn(queue, (core) => settlePulled(core, settlement));
    }

    async peek(queue: string, max: number): Promise<PeekedBatch> {
      return this.#inTurn(queue, (core) => peek(core, max));
    }

    async deleteByRefs(queue: string, refs: readonly string[]): Promise<RefsDeleted> {
      return this.#inTurn(queue, (core) => deleteByRefs(core, refs));
    }

    async purge(queue: string): Promise<PurgeReply> {
      const { core } = await this.#open(queue);
      const reply = await core.purge();
      console.log(`Queue "${queue}" is purged, ${reply.purged} message(s) are deleted`);
      return reply;
    }

    async drain(queue: string): Promise<DrainReply> {
      return (await this.#existing(queue)).drain();
    }

    async configure(queue: string, record: QueueRecord): Promise<void> {
      const open = await this.#open(queue);
      const known = open.registration.record;
      if (known !== null && known.revision >= record.revision) return;
      if (known !== null && known.revision < record.emptyAsOf) {
        await this.#drop(open);
        await this.#open(queue);
      } else {
        await open.adopt(record);
        warnOfConsumer(queue, record, (worker) => this.#workerOf(worker) !== null);
      }
    }

    async clear(queue: string, revision: number): Promise<void> {
      const open = await this.#open(queue);
      const { record } = open.registration;
      if (record !== null && record.revision <= revision) await this.#drop(open);
    }

    async describe(queue: string): Promise<QueueDescription> {
      try {
        const { core, alarm } = await this.#open(queue);
        await core.caughtUp();
        const description = core.describe();
        return { ...description, rowsWritten: description.rowsWritten + alarm.timesWritten };
      } catch (error) {
        if (error instanceof UnreadableQueueError)
          return describeUnreadable(queue, error.message, Date.now());
        throw error;
      }
    }

    async advanceClock(queue: string, ms: number): Promise<void> {
      if (this.env.SLUICE_ENV !== "development") throw new Error("the clock moves in development only");
      const { core, store, clock, alarm } = await this.#open(queue);
      await core.submit(() => {
        clock.advance(ms);
        core.write(() => store.writeClockOffsetMs(clock.offsetMs));
      });
      // The alarm that is set was computed with the old offset.
      alarm.clear();
      await core.wake();
    }

    /** Must never throw: after six failures in a row the platform drops the alarm for ever. */
    override async alarm(): Promise<void> {
      try {
        const open = this.#queue ?? (await this.#openKnown());
        await this.#ring(open);
      } catch (error) {
        console.error(`Queue "${this.ctx.id.name}": ${error}`);
        void this.ctx.storage.setAlarm(Date.now() + OPEN_AGAIN_MS);
      }
    }

    /** Why messages are not taken in before they are looked at; `undefined` where nothing speaks against them. */
    #refusedSend(queue: string, request: EnqueueRequest): EnqueueReply | undefined {
      if (fullStorages.refuses(queue, Date.now())) return STORAGE_FULL;
      const unwritable = this.#queue?.unwritable ?? null;
      if (unwritable !== null) return unwritable.failure;
      return this.#isOutdated(request) ? { ok: "outdated" } : undefined;
    }

    #isOutdated({ revision }: EnqueueRequest): boolean {
      return revision !== undefined && revision < (this.#queue?.registration.record?.revision ?? 0);
    }

    /** Runs `work` in the next turn of a queue and resolves with its result when that is durable. */
    async #inTurn<Result>(queue: string, work: (core: QueueCore) => Result): Promise<Result> {
      const core = await this.#existing(queue);
      return core.submit(() => work(core));
    }

    async #ring(open: OpenQueue | null): Promise<void> {
      if (open === null) return;
      const { core, alarm, clock } = open;
      alarm.clear();
      try {
        await core.wake();
      } catch (error) {
        console.error(`Queue "${core.name}": ${error}`);
        alarm.set(clock.now() + ALARM_AGAIN_MS);
      }
    }

    /** What a topic has for a queue that does not exist goes where its subscription says (spec sns-delivery 6.3). */
    async #passOn({ core }: OpenQueue, handOver: HandOver): Promise<HandOverReply> {
      const fate = await this.#directory().undeliverable(handOver.source, core.name);
      return passOn(core, handOver, fate);
    }

    /** Drops what the queue holds; it is opened again by the next call. */
    async #drop(open: OpenQueue): Promise<void> {
      const { backlogCount } = open.core.metrics();
      open.drop();
      this.#queue = undefined;
      this.#opening = undefined;
      await this.ctx.storage.deleteAlarm();
      await this.ctx.storage.sync();
      console.log(`Queue "${open.core.name}" is deleted, ${backlogCount} message(s) in it`);
    }

    /** Opens the queue whose object this is, `null` while nobody knows which one that is. */
    async #openKnown(): Promise<OpenQueue | null> {
      const name = this.ctx.id.name ?? nameIn(this.ctx.storage);
      return name === null ? null : this.#open(name);
    }

    /** The core of a queue that exists. Throws `QueueNotFoundError` and `UnreadableQueueError`. */
    async #existing(queue: string): Promise<QueueCore> {
      const { core, registration } = await this.#open(queue);
      if (registration.definition === undefined) throw new QueueNotFoundError(queue);
      return core;
    }

    /** The same at once, `null` where there is more to it: most sends need no promise for it. */
    #takingNow(queue: string): QueueCore | null {
      const open = this.#queue;
      if (open === undefined || open.core.name !== queue || open.unwritable !== null) return null;
      return open.registration.definition === undefined ? null : open.core;
    }

    /** The core of a queue that can take messages in. Throws as `#existing`, and `UnwritableQueueError`. */
    async #taking(queue: string): Promise<QueueCore> {
      const core = await this.#existing(queue);
      const unwritable = this.#queue?.unwritable ?? null;
      if (unwritable !== null) throw unwritable;
      return core;
    }

    /** The queue, opened if it is not. Throws `UnreadableQueueError`; the next call tries again. */
    async #open(queue: string): Promise<OpenQueue> {
      this.#opening ??= this.#load(queue);
      this.#queue ??= await this.#opening;
      const { name } = this.#queue.core;
      if (name !== queue) throw new Error(`the object of queue "${name}" was asked for queue "${queue}"`);
      return this.#queue;
    }

    async #load(queue: string): Promise<OpenQueue> {
      const { env, ctx } = this;
      const objectOf = (name: string) => env.SLUICE_QUEUES.get(env.SLUICE_QUEUES.idFromName(name));
      try {
        const open = await openQueue(queue, {
          storage: ctx.storage,
          directory: this.#directory(),
          wasStorageFull: fullStorages.takeReset(queue),
          isFileSuspect: suspectFiles.has(queue),
          commits: fullStorages.watch(queue),
          deployed: own(options.topology.queues, queue),
          consumerOf: (consumer, clock, log) => this.#consumerOf(consumer, clock, log),
          callerOf: (settings, clock, log) => this.#callerOf(settings, clock, log),
          handOver: (target, handOver) => objectOf(target).take(target, handOver),
          broken: (error) => {
            if (isStorageFull(error)) fullStorages.found(queue, Date.now());
            if (isFileDamage(error)) suspectFiles.add(queue);
            ctx.abort(`a commit failed, the queue starts again from its store: ${error}`);
          },
        });
        warnOfConsumer(queue, open.registration.record, (worker) => this.#workerOf(worker) !== null);
        return open;
      } catch (error) {
        this.#opening = undefined;
        if (isFileDamage(error)) suspectFiles.add(queue);
        throw new UnreadableQueueError(queue, error);
      }
    }

    /** Calls that reject, and do no more, where the binding is missing. */
    #directory(): QueuesDirectory {
      const { SLUICE_DIRECTORY: namespace } = this.env;
      const object = () => namespace.get(namespace.idFromName(DIRECTORY_NAME));
      return {
        opened: async (queue, copy) => object().opened(queue, copy),
        ensureQueue: async (queue) => object().ensureQueue(queue),
        findByName: async (queue) => object().findByName(queue),
        undeliverable: async (topicObject, queue) => object().undeliverable(topicObject, queue),
        report: async (queue, mark) => object().report(queue, mark),
      };
    }

    #consumerOf(consumer: ConsumerDefinition, clock: Clock, log: QueueLog): ConsumerPort | null {
      if (consumer.type === "http_push") return this.#endpointOf(consumer.settings, clock, log);
      return consumer.type === "worker" ? this.#workerOf(consumer.worker) : null;
    }

    #workerOf(worker: string): ConsumerPort | null {
      const binding = this.env[own(options.consumers, worker) ?? ""] as QueueConsumerRpc | undefined;
      if (binding === undefined) return null;
      return {
        name: worker,
        deliver: (delivery) => binding.deliver(delivery),
        callsOf: (deliveryId) => binding.callsOf(deliveryId),
        ping: () => binding.ping(),
      };
    }

    #endpointOf(settings: HttpPushSettings, clock: Clock, log: QueueLog): ConsumerPort | null {
      const format = formatOf(settings.format);
      return format === null ? null : new EndpointConsumer(this.#callerOf(settings, clock, log), format);
    }

    #callerOf(settings: HttpPushSettings, clock: Clock, log: QueueLog): EndpointCaller {
      const variable = (name: string) => {
        const value = this.env[name];
        return typeof value === "string" ? value : undefined;
      };
      return new EndpointCaller({
        settings,
        port: httpPort,
        clock,
        log,
        targets: targetRulesOf(this.env),
        variable,
      });
    }
  };
}

/** What a send that was not taken in is answered with. Throws what is no refusal. */
function refusalOf(error: unknown): RpcFailure {
  const isRefusal =
    error instanceof UnreadableQueueError ||
    error instanceof UnwritableQueueError ||
    error instanceof QueueNotFoundError;
  if (isRefusal) return error.failure;
  throw error;
}

/** Says of a consumer that an API named, and that this broker was not deployed with, why nothing is delivered to it. */
function warnOfConsumer(
  queue: string,
  record: QueueRecord | null,
  isBound: (worker: string) => boolean,
): void {
  const consumer = record?.definition.consumer ?? null;
  if (consumer?.type !== "worker" || isBound(consumer.worker)) return;
  console.warn(
    `Queue "${queue}": its consumer "${consumer.worker}" is not a Worker that this broker was started with; messages wait`,
  );
}

/** A queue may be called "constructor": only what the record itself holds counts. */
function own<Value>(record: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
