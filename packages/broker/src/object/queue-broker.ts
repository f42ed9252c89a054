import type {
  CancelMoveReply,
  ClockSetting,
  DrainReply,
  FaultSetting,
  MadeDue,
  NewMove,
  NextMoment,
  Part,
  PartRequest,
  PostReply,
  PublishReply,
  PublishRequest,
  PullReply,
  PullRequest,
  PullSettled,
  PullSettlement,
  PurgeReply,
  QueueDescription,
  QueueRecord,
  QueueWhy,
  QueueWork,
  QueueWorkDone,
  ReceiveReply,
  ReceiveRequest,
  RefsDeleted,
  RpcFailure,
  SendReply,
  SendRequest,
  ShardState,
  StartMoveReply,
  TopicDescription,
} from "@sluice/protocol";
import {
  ALERTS_QUEUE,
  isShard,
  isSpoken,
  isTopicObject,
  isWhole,
  metricsText,
  readShardAddress,
  shardMapText,
  shardOf,
} from "@sluice/protocol";
import { pluralIs } from "@sluice/protocol/words";
import type { EndpointPort } from "../endpoint/endpoint.ts";
import { alarmMsAfter } from "../platform/clock.ts";
import { type Host, workersHost } from "../platform/host.ts";
import { ManyQueuesLog } from "../platform/many-queues-log.ts";
import { droppedLine } from "../platform/shard-lines.ts";
import { shardStateOf } from "../queue/shard-state.ts";
import type { QueuesDirectory } from "../rpc/directory-object.ts";
import type { QueueBrokerObject, SettledQueue } from "../rpc/queue-object.ts";
import type { Transfer, TransferReply } from "../rpc/transfer.ts";
import { readPassSource } from "../shards/passed-on.ts";
import { applyConfiguration, createIfAbsent } from "./apply-configuration.ts";
import { BoundConsumers } from "./bound-consumers.ts";
import { type BrokerEnv, type BrokerOptions, directoryOf } from "./broker-env.ts";
import { changeClock, nextMomentIn, receiveUnderFrozenClock, setAlarmAnew, settleAt } from "./moved-clock.ts";
import { ObjectQueue } from "./object-queue.ts";
import { LastEnds } from "./open/last-end.ts";
import type { OpenQueue } from "./open/open-queue.ts";
import { QueueReads } from "./queue-reads.ts";
import { refusedProtocol, refusedSend } from "./refused-send.ts";
import { QueueNotFoundError } from "./registration.ts";
import { ringQueue } from "./ring-queue.ts";
import { FullStorages, STORAGE_FULL, STORAGE_IS_FULL } from "./storage-full.ts";
import {
  describeUnreadable,
  describeUnreadableTopic,
  logUnopened,
  refusalOf,
  UnreadableQueueError,
  whyUnreadable,
} from "./unreadable-queue.ts";

/** Destination of alerts that were on their way when they were switched off. */
const ALERTS_ARE_OFF = { kind: "dropped", reason: "the configuration has no [sluice.alerts]" } as const;
/** When a queue that cannot be read is tried again by its alarm, in ms. */
const OPEN_AGAIN_MS = 30_000;

/**
 * The Durable Object class of a broker: one object per queue, named like it. It delegates; `QueueCore` decides.
 *
 * @param endpoints the way to HTTP endpoints on the platform that it runs on: `workersPort` for Workers.
 */
export function createQueueBroker(options: BrokerOptions, endpoints: EndpointPort) {
  const hostOf = options.hostOf ?? workersHost(options.clock);
  const fullStorages = new FullStorages(options.disk);
  const lastEnds = new LastEnds();
  /** Queues whose database file was found to be damaged, by the epoch before. */
  const suspectFiles = new Set<string>();
  const manyQueues = new ManyQueuesLog();

  return class QueueBroker extends QueueReads implements QueueBrokerObject {
    protected override readonly existing = (queue: string) => this.#queue.coreOfExisting(queue);
    readonly #host: Host<BrokerEnv>;
    readonly #queue: ObjectQueue;
    readonly #consumers: BoundConsumers;
    readonly #directory: QueuesDirectory;

    constructor(ctx: DurableObjectState, env: BrokerEnv) {
      super(ctx, env);
      const host = hostOf(ctx, env);
      this.#host = host;
      this.#consumers = new BoundConsumers(host, options, endpoints);
      this.#directory = directoryOf(env);
      this.#queue = new ObjectQueue({
        host,
        options,
        fullStorages,
        lastEnds,
        suspectFiles,
        manyQueues,
        consumers: this.#consumers,
        directory: this.#directory,
      });
      // Calls wait until the queue is loaded. Each opens it again if that fails, and throws the reason.
      void host.blockConcurrencyWhile(async () => {
        try {
          await this.#queue.openOwn();
        } catch (error) {
          logUnopened(error, this.#host, manyQueues);
        }
      });
    }

    async send(queue: string, requests: readonly SendRequest[], producer?: string): Promise<SendReply> {
      if (this.#isFull(queue)) return STORAGE_FULL;
      try {
        const { core, unwritable, callerMap } = await this.#queue.forSending(queue, true);
        if (unwritable !== null) throw unwritable;
        const reply = await core.send(requests, producer, callerMap);
        const { shardMap } = core;
        const lacksMap = callerMap.epoch === null && shardMap !== undefined && !isWhole(shardMap);
        return reply.ok && lacksMap ? { ...reply, shards: shardMap } : reply;
      } catch (error) {
        return refusalOf(error);
      }
    }

    async post(
      queue: string,
      requests: readonly SendRequest[],
      producer?: string,
      protocol?: number,
    ): Promise<PostReply> {
      if (!isSpoken(protocol)) return refusedProtocol(producer, protocol);
      const reply = await this.send(queue, requests, producer);
      if (!reply.ok) return reply;
      const { metrics, shards } = reply;
      return shards === undefined ? metricsText(metrics) : `${metricsText(metrics)} ${shardMapText(shards)}`;
    }

    /** Takes in transferred messages. A queue that does not exist is created (spec cloudflare-queues 4). */
    async take(queue: string, transfer: Transfer): Promise<TransferReply> {
      // The sending queue keeps the messages and transfers them again later.
      if (this.#isFull(queue)) throw new Error(STORAGE_FULL.cause);
      const open = await this.#queue.forCall(queue);
      if (open.unwritable !== null) throw open.unwritable;
      if (open.registration.definition === undefined) {
        // Transfers create no shard, and those of another shard create no queue: their messages wait, or are deleted
        // with their queue.
        if (isShard(queue) || readPassSource(transfer.source).by !== null)
          throw new QueueNotFoundError(queue);
        if (isTopicObject(transfer.source)) return this.#forward(open, transfer);
        if (queue === ALERTS_QUEUE) return open.core.inbox.forward(transfer, ALERTS_ARE_OFF);
        await createIfAbsent(open, () => this.#directory.ensureQueue(queue));
      }
      return open.core.inbox.accept(transfer);
    }

    async publish(topicObject: string, request: PublishRequest): Promise<PublishReply> {
      if (this.#isFull(topicObject)) return STORAGE_FULL;
      try {
        const { core, unwritable } = await this.#queue.forCall(topicObject);
        if (unwritable !== null) throw unwritable;
        return await core.topic.publish(request);
      } catch (error) {
        return refusalOf(error);
      }
    }

    async topicChanged(topicObject: string, version: number | null): Promise<void> {
      (await this.#queue.forCall(topicObject)).core.topic.changed(version);
    }

    async describeTopic(topicObject: string): Promise<TopicDescription> {
      try {
        return (await this.#queue.forCall(topicObject)).core.topic.describe();
      } catch (error) {
        if (error instanceof UnreadableQueueError)
          return describeUnreadableTopic(error.message, this.#host.systemMs());
        throw error;
      }
    }

    async work(
      queue: string,
      work: QueueWork,
    ): Promise<({ readonly ok: true } & QueueWorkDone) | RpcFailure> {
      try {
        const { enqueue: request, ...others } = work;
        if (request === undefined)
          return { ...(await (await this.#queue.coreOfExisting(queue)).work(work)), ok: true };
        const { core, callerMap } = await this.#queue.forSending(queue, false);
        const refused = refusedSend(this.#isFull(queue), this.#queue.current, request);
        if (refused === undefined) return { ...(await core.work(work, callerMap)), ok: true };
        return { ...(await core.work(others, callerMap)), ok: true, enqueued: refused };
      } catch (error) {
        return refusalOf(error);
      }
    }

    async receive(queue: string, request: ReceiveRequest): Promise<ReceiveReply> {
      const { receivers } = await this.#queue.coreOfExisting(queue);
      const { current } = this.#queue;
      return current?.clock.isFrozen === true
        ? receiveUnderFrozenClock(current, this.#host, request)
        : receivers.receive(request);
    }

    async cancelReceive(queue: string, receiverId: string): Promise<void> {
      (await this.#queue.coreOfExisting(queue)).receivers.cancel(receiverId);
    }

    async release(queue: string, receipts: readonly string[]): Promise<number> {
      return (await this.#queue.coreOfExisting(queue)).release(receipts);
    }

    async startMove(queue: string, move: NewMove): Promise<StartMoveReply> {
      return (await this.#queue.coreOfExisting(queue)).moves.begin(move);
    }

    async cancelMove(queue: string, taskId: string): Promise<CancelMoveReply> {
      return (await this.#queue.coreOfExisting(queue)).moves.cancel(taskId);
    }

    async pull(queue: string, request: PullRequest): Promise<PullReply> {
      return (await this.#queue.coreOfExisting(queue)).pull(request);
    }

    async settleLeases(queue: string, settlement: PullSettlement): Promise<PullSettled> {
      return (await this.#queue.coreOfExisting(queue)).settleLeases(settlement);
    }

    async why(queue: string): Promise<QueueWhy> {
      try {
        const core = await this.#queue.coreOfExisting(queue);
        await core.caughtUp();
        const why = core.messages.why();
        const isFull = this.#isFull(queue);
        return { ...why, also: [...(isFull ? [STORAGE_IS_FULL] : []), ...core.alerts.why(), ...why.also] };
      } catch (error) {
        if (error instanceof UnreadableQueueError) return whyUnreadable(error.message);
        throw error;
      }
    }

    async makeDue(queue: string, refs: readonly string[]): Promise<readonly MadeDue[]> {
      return (await this.#queue.coreOfExisting(queue)).messages.makeDue(refs);
    }

    async deleteByRefs(queue: string, refs: readonly string[]): Promise<RefsDeleted> {
      return (await this.#queue.coreOfExisting(queue)).deleteByRefs(refs);
    }

    async purge(queue: string): Promise<PurgeReply> {
      const { core } = await this.#queue.forCaller(queue);
      const reply = await core.purge();
      this.#host.log.log(`Queue "${core.name}" is purged, ${pluralIs(reply.purged, "message")} deleted`);
      return reply;
    }

    async lendPart(queue: string, request: PartRequest): Promise<Part> {
      return (await this.#queue.forCall(queue)).lender.lend(request);
    }

    async partOf(queue: string, lender: number): Promise<PartRequest> {
      const { part } = (await this.#queue.forCall(queue)).core;
      if (part === null) throw new Error(`queue "${queue}" borrows nothing`);
      return part.tell(lender);
    }

    async drain(queue: string): Promise<DrainReply> {
      const reply = await (await this.#queue.coreOfExisting(queue)).drain();
      if (reply.requests === 0) await this.#queue.current?.flush();
      return reply;
    }

    async configure(queue: string, record: QueueRecord): Promise<void> {
      const open = await this.#queue.forCall(queue);
      const isNew = await applyConfiguration(open, record, async () => {
        this.#host.log.log(droppedLine(open.core.name, await this.#queue.drop(open)));
        await this.#queue.forCall(queue);
      });
      if (isNew) this.#consumers.warnOfUnbound(queue, record);
    }

    async shardState(queue: string): Promise<ShardState> {
      const { core, usage } = await this.#queue.forCall(queue);
      return { ...(await shardStateOf(core)), usage: usage() };
    }

    async clear(queue: string, revision: number): Promise<number> {
      const open = await this.#queue.forCall(queue);
      return open.registration.noteDeleted(revision) ? this.#queue.drop(open) : 0;
    }

    /**
     * Called by the host on Node.js, which then closes the file of a deleted queue. Cloudflare ends idle objects
     * itself.
     */
    holdsNothing(): boolean {
      return this.#queue.isDropped;
    }

    async describe(queue: string): Promise<QueueDescription> {
      try {
        const open = await this.#queue.forCaller(queue);
        await open.core.caughtUp();
        return open.describe();
      } catch (error) {
        if (error instanceof UnreadableQueueError)
          return describeUnreadable(
            shardOf(readShardAddress(queue).object).queue,
            error.message,
            this.#host.systemMs(),
          );
        throw error;
      }
    }

    async advanceClock(queue: string, ms: number): Promise<void> {
      await this.#queue.forCaller(queue);
      await changeClock(await this.#inDevelopment(queue), (clock) => clock.advance(ms));
    }

    async setClock(queue: string, setting: ClockSetting): Promise<void> {
      await changeClock(await this.#inDevelopment(queue), (clock) => clock.goBy(setting));
    }

    async settleAt(queue: string, setting: ClockSetting): Promise<SettledQueue> {
      return settleAt(await this.#inDevelopment(queue), setting);
    }

    async clockWasSet(queue: string): Promise<void> {
      await setAlarmAnew(await this.#queue.forCall(queue));
    }

    async faults(queue: string): Promise<FaultSetting> {
      return (await this.#queue.forCaller(queue)).faults.read();
    }

    async setFaults(queue: string, setting: FaultSetting): Promise<void> {
      await this.#queue.forCaller(queue);
      (await this.#inDevelopment(queue)).faults.set(setting);
    }

    async nextMoment(queue: string): Promise<NextMoment> {
      return nextMomentIn(await this.#queue.forCall(queue));
    }

    /** Must never throw: after six failures in a row the platform drops the alarm for ever. */
    override async alarm(): Promise<void> {
      const { storage, clock } = this.#host;
      try {
        const open = this.#queue.current ?? (await this.#queue.openOwn());
        if (open !== null) await ringQueue(open, this.#host);
      } catch (error) {
        logUnopened(error, this.#host, manyQueues);
        void storage.setAlarm(alarmMsAfter(clock, OPEN_AGAIN_MS));
      }
    }

    #isFull(queue: string): boolean {
      return fullStorages.refuses(readShardAddress(queue).object, this.#host.systemMs());
    }

    /** The queue, for what may be done in development only. */
    async #inDevelopment(queue: string): Promise<OpenQueue> {
      const open = await this.#queue.forCall(queue);
      if (this.#host.env.SLUICE_ENV === "development") return open;
      throw new Error("clocks move and faults are made in development only");
    }

    /** Passes on messages that a topic has for a missing queue, as its subscription says (spec sns-delivery 6.3). */
    async #forward({ core }: OpenQueue, transfer: Transfer): Promise<TransferReply> {
      const destination = await this.#directory.undeliverable(transfer.source, core.name);
      return core.inbox.forward(transfer, destination);
    }
  };
}
