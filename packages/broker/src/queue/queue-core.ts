import { changeRules, createQueue, firstIdOf, type Queue } from "@sluice/engine";
import {
  type BacklogMetrics,
  type DrainReply,
  type MessageCounts,
  PackedIndex,
  type PeekedBatch,
  type PullReply,
  type PullRequest,
  type PullSettled,
  type PullSettlement,
  type PurgeReply,
  type QueueDefinition,
  type QueueDescription,
  type QueueWork,
  type QueueWorkDone,
  type RefsDeleted,
  type SendReply,
  type SendRequest,
  type ShardMap,
  shardOf,
} from "@sluice/protocol";
import { Alerts } from "../alerts/alerts.ts";
import { PeriodicTasks } from "../endpoint/periodic-tasks.ts";
import { WorkerDaemon } from "../endpoint/worker-daemon.ts";
import type { History } from "../history/history.ts";
import { Messages } from "../look/messages.ts";
import type { QueueLog } from "../platform/log.ts";
import { PushDispatcher } from "../push/dispatcher.ts";
import { Attempts } from "../receive/attempts.ts";
import { deleteByRefs, peek } from "../receive/peek.ts";
import { pull } from "../receive/pull.ts";
import { Receivers } from "../receive/receivers.ts";
import { settlePulled } from "../receive/settle-pulled.ts";
import { releaseByReceipt } from "../receive/settle-receipts.ts";
import { Deduplication } from "../send/deduplication.ts";
import { Intake } from "../send/intake.ts";
import { SeenIds } from "../send/seen-ids.ts";
import type { CallerMap } from "../shards/caller-map.ts";
import { ShardGroups } from "../shards/shard-groups.ts";
import { PayloadCache } from "../store/payload-cache.ts";
import type { QueueStore } from "../store/store.ts";
import type { Traces } from "../tracing/traces.ts";
import { DeadLetters } from "../transfer/dead-letters.ts";
import { Inbox } from "../transfer/inbox.ts";
import { Moves } from "../transfer/moves.ts";
import { Outbox } from "../transfer/outbox.ts";
import { Topic } from "../transfer/topic.ts";
import type { QueueContext } from "../turn/context.ts";
import { DamageLog } from "../turn/damage-log.ts";
import { messageCountsOf, metricsOf } from "../turn/figures.ts";
import { GroupCommit, type Urgency } from "../turn/group-commit.ts";
import { rulesOf } from "../turn/rules.ts";
import { Throttle } from "../turn/throttle.ts";
import { changeDefinition } from "./definition-change.ts";
import { describe } from "./description.ts";
import { loadSegments } from "./load.ts";
import { passTime } from "./pass-time.ts";
import { purgeMessages } from "./purge.ts";
import { historyFor } from "./queue-history.ts";
import { QueuePart } from "./queue-part.ts";
import type { QueuePorts } from "./queue-ports.ts";
import { doWork } from "./queue-work.ts";
import { resume } from "./resume.ts";
import { RingingAlarm } from "./ringing-alarm.ts";
import { TurnWrites } from "./turn-writes.ts";
import { Watchers } from "./watchers.ts";

/**
 * One queue: the engine's state, its store, and the parts that work on both.
 *
 * A turn runs the jobs that wait, ends what is over by time, takes the next batches, writes all of it in one commit and
 * only then lets anything out. Nothing changes the engine outside a turn.
 */
export class QueueCore implements QueueContext {
  readonly name: string;
  readonly queueName: string;
  readonly shard: number;
  readonly queue: Queue;
  readonly log: QueueLog;
  readonly store: QueueStore;
  readonly traces: Traces | null;
  readonly jitterSeed: string;
  readonly damage: DamageLog;
  readonly history: History;
  readonly watchers: Watchers;
  readonly groups: ShardGroups;
  readonly intake: Intake;
  readonly outbox: Outbox;
  readonly inbox: Inbox;
  readonly deadLetters: DeadLetters;
  readonly moves: Moves;
  readonly topic: Topic;
  readonly alerts: Alerts;
  readonly throttle: Throttle;
  readonly dispatcher: PushDispatcher;
  readonly attempts: Attempts;
  readonly receivers: Receivers;
  readonly daemon: WorkerDaemon;
  readonly tasks: PeriodicTasks;
  readonly messages: Messages;
  readonly deduplication: Deduplication;
  /** Part of the queue's limits that this shard may use; `null` for an object that never has others beside it. */
  readonly part: QueuePart | null;
  readonly seen: SeenIds;
  readonly cache = new PayloadCache();
  /** When this epoch began, in ms. */
  readonly awakeSinceMs: number;
  /**
   * Number of this epoch: the time from one start of the queue to its end. It grows with every epoch that writes
   * something.
   */
  readonly epoch: number;
  readonly #ports: QueuePorts;
  readonly #commit: GroupCommit;
  readonly #writes: TurnWrites;
  readonly #alarm: RingingAlarm;
  /** The moment of the turn that is under way; `null` between turns. */
  #turnMs: number | null = null;

  /** Puts the parts together, and loads the queue. */
  constructor(name: string, ports: QueuePorts) {
    const { store, log } = ports;
    this.name = name;
    ({ queue: this.queueName, shard: this.shard } = shardOf(name));
    this.log = log;
    this.store = store;
    this.traces = ports.traces ?? null;
    this.jitterSeed = ports.jitterSeed;
    this.#ports = ports;
    this.awakeSinceMs = ports.clock.now();
    const latestEpoch = store.readEpoch();
    this.epoch = Math.max(latestEpoch, ports.epochKnown) + 1;
    this.queue = createQueue(rulesOf(this.definition), this.epoch);
    this.#writes = new TurnWrites(this, () => ports.writeFirst());
    this.#alarm = new RingingAlarm(this, ports);
    this.#commit = new GroupCommit({
      turn: (jobs) => this.#turn(jobs),
      synced: () => store.synced(),
      isHurried: () => this.watchers.isIdleAwaited,
      awake: ports.awake,
      lingerMs: ports.lingerMs,
      durable: () => {
        this.receivers.answer();
        this.watchers.answer();
        this.traces?.durable();
      },
      after: ports.lingerMs === 0 ? undefined : ports.after,
      broken: (error) => {
        this.#fail(error);
        ports.broken(error);
      },
    });
    this.damage = new DamageLog(this, store);
    const firstId = firstIdOf(this.epoch);
    this.history = historyFor(this, ports, firstId);
    this.watchers = new Watchers(this, ports.awake);
    this.part = ports.shard === undefined ? null : new QueuePart(this, ports.shard, ports.after);
    this.throttle = new Throttle(
      this,
      latestEpoch > 0,
      () => this.part?.perSecond ?? Number.POSITIVE_INFINITY,
    );
    this.deduplication = new Deduplication(this, firstId);
    this.groups = new ShardGroups(this, this.deduplication);
    this.seen = new SeenIds(this, firstId);
    const { cache, throttle, deduplication, seen, groups } = this;
    this.intake = new Intake(this, { deduplication, seen, cache, groups });
    this.outbox = new Outbox(this, ports, firstId);
    const { intake, outbox } = this;
    this.alerts = new Alerts(this, ports.alerts, () => this);
    this.inbox = new Inbox(this, { intake, outbox, alerts: this.alerts, groups });
    this.moves = new Moves(this, { outbox, find: (...what) => this.messages.find(...what) }, ports);
    this.topic = new Topic(this, { intake, outbox, deduplication }, firstId);
    this.deadLetters = new DeadLetters(this, outbox);
    this.attempts = new Attempts(this);
    const { deadLetters, attempts, alerts } = this;
    this.dispatcher = new PushDispatcher(
      this,
      { throttle, deadLetters, alerts },
      {
        consumer: () => ports.consumer(),
        heldUntilMs: () => ports.heldUntilMs(),
        lingerMs: ports.lingerMs,
        heartbeatMs: ports.heartbeatMs,
        // Watchers are to see a settlement soon, so it does not wait for the alarm.
        ringsSoon: () => !this.watchers.isWatched && ports.ringsSoon?.() === true,
      },
    );
    this.receivers = new Receivers(this, {
      attempts,
      throttle,
      deadLetters,
      forClient: () => this.part?.forClient() ?? null,
    });
    this.daemon = new WorkerDaemon(this, { receivers: this.receivers, throttle, alerts }, ports);
    this.tasks = new PeriodicTasks(this, intake);
    this.messages = new Messages(this, ports.configuredWorker);
    this.#writes.loaded(loadSegments(this.queue, store, this.damage, this.nowMs));
  }

  /** Larger than all ids that this epoch has given so far, of whatever kind. */
  get nextId(): number {
    const { nextSegmentId, nextSeq, nextLeaseId } = this.queue;
    const { history, deduplication, seen, outbox, topic } = this;
    return Math.max(
      nextSegmentId,
      nextSeq,
      nextLeaseId,
      history.lastNumber + 1,
      deduplication.nextNote,
      seen.nextNote,
      outbox.nextId,
      topic.nextSequence,
    );
  }

  /** Goes on with what an earlier epoch has left behind. Call once. */
  begin(): void {
    const goesOn = resume(this, this.#ports);
    if (goesOn || this.#writes.hasAny) void this.wake();
  }

  get nowMs(): number {
    // Time stands still within a turn: nothing is due at its end that was not due at its beginning.
    return this.#turnMs ?? this.#ports.clock.now();
  }

  get definition(): QueueDefinition | undefined {
    return this.#ports.definition();
  }

  get shardMap(): ShardMap | undefined {
    return this.#ports.shardMap?.();
  }

  /** Goes by the definition that `ports.definition` gives from now on. `change` makes it give another one. */
  reconfigure(change: () => void, write: () => void): Promise<void> {
    return this.submit(() => {
      changeDefinition(this, change);
      this.write(write);
    });
  }

  /** Ends this epoch: no turn is run any more, and what waits for one is rejected with `error`. */
  end(error: unknown): void {
    this.#commit.end(error);
    this.part?.end();
    this.#fail(error);
  }

  #fail(error: unknown): void {
    this.receivers.fail(error);
    this.watchers.fail(error);
  }

  broken(error: unknown): void {
    this.#ports.broken(error);
  }

  submit<Result>(work: () => Result, urgency?: Urgency): Promise<Result> {
    return this.#commit.submit(work, urgency);
  }

  wake(): Promise<void> {
    const done = this.submit(() => {});
    done.catch(() => {});
    return done;
  }

  /** Does what is due as the alarm rings. `stay` waits until its argument resolves, or for `HEARTBEAT_MS` at most. */
  ring(stay: (rested: Promise<void>) => Promise<unknown>): Promise<void> {
    return this.#alarm.ring(stay);
  }

  passTime(): void {
    passTime(this);
  }

  rearm(): void {
    this.#alarm.set();
    this.watchers.lookIdle();
  }

  write(write: () => void): void {
    this.#writes.add(write);
  }

  newMessageId(): string {
    return this.#ports.newMessageId();
  }

  readonly payloadOf = (segmentId: number): PackedIndex => {
    const cached = this.cache.get(segmentId);
    if (cached !== undefined) return cached;
    const bytes = this.store.readPayload(segmentId);
    if (bytes === null) throw new Error(`segment ${segmentId} of queue "${this.name}" has lost its payload`);
    const payload = new PackedIndex(bytes);
    this.cache.use(segmentId, payload);
    return payload;
  };

  /** Whether no settlement lingers. */
  get isCaughtUp(): boolean {
    return !this.#commit.hasDeferred;
  }

  /** Resolves when no settlement lingers any more: for those who look at what is in delivery. */
  async caughtUp(): Promise<void> {
    if (!this.isCaughtUp) await this.wake();
  }

  /** Stores the batches of one call, all or none, and answers when they are durable (`Intake`). */
  send(requests: readonly SendRequest[], producer?: string, callerMap?: CallerMap): Promise<SendReply> {
    return this.intake.send(requests, producer, callerMap);
  }

  /** Does what several requests want of the queue in one turn: deletes, changes visibilities, stores and receives. */
  work(work: QueueWork, callerMap?: CallerMap): Promise<QueueWorkDone> {
    return doWork(this, work, callerMap);
  }

  /** Deletes every message; those on their way to another queue have left this one. */
  purge(): Promise<PurgeReply> {
    return this.submit(() => purgeMessages(this));
  }

  /** Leases messages for a client that polls. */
  pull(request: PullRequest): Promise<PullReply> {
    const take = () =>
      this.submit(() => {
        this.receivers.askedMs = this.nowMs;
        return pull(this, this.throttle, request);
      });
    return this.part?.forClient()?.then(take) ?? take();
  }

  /** Settles what a client has pulled. */
  settleLeases(settlement: PullSettlement): Promise<PullSettled> {
    return this.submit(() => settlePulled(this, this.deadLetters, settlement));
  }

  /** The first messages that wait, as they stand. */
  peek(max: number): Promise<PeekedBatch> {
    return this.submit(() => peek(this, max));
  }

  /** Deletes messages by refs of `peek`. */
  deleteByRefs(refs: readonly string[]): Promise<RefsDeleted> {
    return this.submit(() => deleteByRefs(this, refs));
  }

  /** Undoes a receive whose answer has not reached its client. @returns how many receipts still held their messages. */
  release(receipts: readonly string[]): Promise<number> {
    return this.submit(() => receipts.reduce((sum, receipt) => sum + releaseByReceipt(this, receipt), 0));
  }

  /** Has the worker daemon begin no more requests for a while, and answers how many are under way. */
  drain(): Promise<DrainReply> {
    return this.submit(() => this.daemon.drain(this.nowMs));
  }

  /** Where the messages stand now: a turn, so that no visibility timeout that has ended counts. */
  async messageCounts(): Promise<MessageCounts> {
    await this.wake();
    return messageCountsOf(this.queue, this.nowMs);
  }

  /** Returns the backlog as of the last turn. */
  metrics(): BacklogMetrics {
    return metricsOf(this.queue);
  }

  /**
   * Describes the queue, with its deliveries as of the last turn; `caughtUp` makes one if there is something to tell.
   */
  describe(): QueueDescription {
    return describe(this);
  }

  #turn(jobs: () => void): void {
    this.#turnMs = this.#ports.clock.now();
    try {
      this.#runTurn(jobs, this.#turnMs);
    } finally {
      this.#turnMs = null;
    }
  }

  #runTurn(jobs: () => void, nowMs: number): void {
    jobs();
    this.tasks.run(nowMs);
    this.intake.place(nowMs);
    const isCaughtUp = passTime(this);
    if (this.part?.hasChanged === true) changeRules(this.queue, this.part.rules());
    this.receivers.serve(nowMs);
    const deliveries = isCaughtUp ? this.dispatcher.takeBatches(nowMs) : [];
    const work = this.daemon.take(nowMs);
    this.deduplication.write(nowMs);
    this.attempts.expire(nowMs);
    this.alerts.look(nowMs, this.dispatcher.busy || this.daemon.busy);
    this.history.write();
    this.#writes.commit();
    this.receivers.lookAgain();
    this.dispatcher.start(deliveries);
    this.daemon.start(work);
    this.outbox.start();
    this.moves.start();
    this.part?.look();
    this.rearm();
    this.cache.trim();
  }
}
