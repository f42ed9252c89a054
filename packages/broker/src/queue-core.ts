import { changeRules, createQueue, purge, type Queue } from "@sluice/engine";
import {
  type BacklogMetrics,
  type DeleteOutcome,
  type DrainReply,
  type EnqueueReply,
  type MessageCounts,
  PackedIndex,
  type PurgeReply,
  type QueueDescription,
  type QueueWork,
  type QueueWorkDone,
  type SendReply,
  type SendRequest,
  type VisibilityChange,
  type VisibilityOutcome,
} from "@sluice/protocol";
import { Attempts } from "./attempts.ts";
import { writeChanges } from "./changes.ts";
import { DamageLog } from "./damage-log.ts";
import { Deduplication } from "./deduplication.ts";
import { deliveryDelayChanged } from "./delivery-delay.ts";
import { describe, messageCountsOf, metricsOf } from "./description.ts";
import { PushDispatcher } from "./dispatcher.ts";
import { PeriodicTasks } from "./endpoint/periodic-tasks.ts";
import { WorkerDaemon } from "./endpoint/worker-daemon.ts";
import { GroupCommit, type LeavingLeases } from "./group-commit.ts";
import { Intake } from "./intake.ts";
import { loadSegments } from "./load.ts";
import { Moves } from "./moves.ts";
import { newId } from "./new-id.ts";
import { armNextWake } from "./next-wake.ts";
import { Outbox } from "./outbox.ts";
import { passTime } from "./pass-time.ts";
import { PayloadCache } from "./payload-cache.ts";
import type { HandOver, HandOverReply, QueuePorts } from "./ports.ts";
import { Receivers } from "./receivers.ts";
import { resume } from "./resume.ts";
import { rulesOf } from "./rules.ts";
import { changeByReceipt, deleteByReceipt, giveBackByReceipt } from "./settle-receipts.ts";
import { Throttled } from "./throttled.ts";
import { Topic } from "./topic.ts";

/** Ids of one life of the outbox; must be the engine's factor too, so that one epoch numbers both. */
const IDS_PER_EPOCH = 2 ** 32;

/**
 * One queue: the engine's state, what it is stored in and who works on it, all on the same turn.
 *
 * A turn runs the work that waits, lets time do its part, takes the next batches, writes all of it in one commit and
 * only then lets anything out. Nothing changes the engine outside a turn.
 */
export class QueueCore {
  readonly name: string;
  readonly ports: QueuePorts;
  readonly queue: Queue;
  readonly cache = new PayloadCache();
  readonly damage: DamageLog;
  readonly intake: Intake;
  readonly dispatcher: PushDispatcher;
  readonly daemon: WorkerDaemon;
  readonly tasks: PeriodicTasks;
  readonly outbox: Outbox;
  readonly receivers: Receivers;
  readonly deduplication: Deduplication;
  readonly attempts: Attempts;
  readonly moves: Moves;
  readonly throttled: Throttled;
  readonly topic: Topic;
  /** When this life began, in ms. */
  readonly awakeSinceMs: number;
  readonly #commit: GroupCommit;
  readonly #epoch: number;
  /** Segments with a row in `segment_states`. */
  readonly #withState: Set<number>;
  /** What jobs of the next turn write that is not the engine's. */
  #writes: (() => void)[] = [];
  /** The moment of the turn that is under way; `null` between turns. */
  #turnMs: number | null = null;
  #lifeWritten = false;

  constructor(name: string, ports: QueuePorts) {
    this.name = name;
    this.ports = ports;
    this.awakeSinceMs = ports.clock.now();
    const { store } = ports;
    this.#epoch = Math.max(store.readEpoch(), ports.livesKnown ?? 0) + 1;
    this.queue = createQueue(rulesOf(ports.definitionOf(name)), this.#epoch);
    this.#commit = new GroupCommit({
      turn: (jobs) => this.#turn(jobs),
      synced: () => store.synced(),
      durable: () => this.receivers.answer(),
      nowMs: () => this.nowMs,
      after: ports.after && ((callback, ms) => ports.after?.(callback, ms)),
      hasOutputGate: ports.hasOutputGate,
      broken: (error) => {
        this.receivers.fail(error);
        ports.broken(error);
      },
    });
    this.damage = new DamageLog(this);
    this.intake = new Intake(this);
    this.outbox = new Outbox(this, this.#epoch * IDS_PER_EPOCH);
    this.receivers = new Receivers(this);
    this.deduplication = new Deduplication(this, this.#epoch * IDS_PER_EPOCH);
    this.attempts = new Attempts(this);
    this.moves = new Moves(this);
    this.topic = new Topic(this, this.#epoch * IDS_PER_EPOCH);
    this.throttled = new Throttled(this, store.readEpoch() > 0);
    this.dispatcher = new PushDispatcher(this);
    this.daemon = new WorkerDaemon(this);
    this.tasks = new PeriodicTasks(this);
    const { nowMs } = this;
    this.#withState = loadSegments(this.queue, store, this.damage, nowMs);
    resume(this, nowMs);
  }

  /**
   * Time as the queue sees it: within a turn it stands still, as it does on Workers. A clock that went on would have a turn
   * find due at its end what was not at its beginning.
   */
  get nowMs(): number {
    return this.#turnMs ?? this.ports.clock.now();
  }

  /** Goes by the definition that `ports.definitionOf` gives from now on. `change` makes it give another one. */
  reconfigure(change: () => void, write: () => void): Promise<void> {
    return this.submit(() => {
      const delaySeconds = this.deliveryDelaySeconds;
      change();
      changeRules(this.queue, rulesOf(this.ports.definitionOf(this.name)));
      deliveryDelayChanged(this, delaySeconds);
      this.write(write);
    });
  }

  /** At the start, when the queue had another delay in its last life. A turn: what is due by the new one must not wait on. */
  delayWas(seconds: number): void {
    if (seconds === this.deliveryDelaySeconds) return;
    this.submit(() => deliveryDelayChanged(this, seconds)).catch(() => {});
  }

  /** Ends this life: no turn is run any more, and what waits for one is rejected with `error`. */
  end(error: unknown): void {
    this.#commit.end(error);
    this.receivers.fail(error);
  }

  /** Runs `work` in the next turn and resolves with its result when the turn is durable. */
  submit<Result>(work: () => Result): Promise<Result> {
    return this.#commit.submit(work);
  }

  /** The same for work of which nothing but the answer to a call depends on the promise (`GroupCommit`). */
  submitGated<Result>(work: () => Result): Promise<Result> {
    return this.#commit.submitGated(work);
  }

  /** The same for work that may wait for another turn to share (`GroupCommit`). */
  submitForCompany<Result>(work: () => Result): Promise<Result> {
    return this.#commit.submitForCompany(work);
  }

  /** Whether no settlement waits for company. */
  get isCaughtUp(): boolean {
    return !this.#commit.hasPatientWork;
  }

  /** Resolves when no settlement waits for company any more: for those who look at what is in delivery. */
  async caughtUp(): Promise<void> {
    if (!this.isCaughtUp) await this.wake();
  }

  /** Stores the batches of one call, all or none, and answers when they are durable (`Intake`). */
  send(requests: readonly SendRequest[]): Promise<SendReply> {
    return this.intake.send(requests);
  }

  /** `send` for one batch of a dialect with larger messages, that wants to know what became of each. */
  enqueue(request: SendRequest): Promise<Exclude<EnqueueReply, { ok: "outdated" }>> {
    return this.intake.enqueue(request);
  }

  /** Takes messages of another queue, once each, and answers when they are durable. */
  take(handOver: HandOver): Promise<HandOverReply> {
    return this.intake.take(handOver);
  }

  /** Does what several requests want of the queue in one turn. */
  async work({ enqueue: request, receive, remove, change }: QueueWork): Promise<QueueWorkDone> {
    // Most often all there is: nothing has to be gathered for it.
    const isSendOnly = receive === undefined && remove === undefined && change === undefined;
    if (request !== undefined && isSendOnly) return { enqueued: await this.enqueue(request) };
    const parts = this.#commit.together(
      () =>
        [
          remove === undefined ? undefined : this.deleteBatch(remove),
          change === undefined ? undefined : this.changeVisibilityBatch(change),
          request === undefined ? undefined : this.enqueue(request),
          receive === undefined ? undefined : this.receivers.receiveNow(receive),
        ] as const,
    );
    const [removed, changed, enqueued, received] = await Promise.all(parts);
    return {
      ...(removed === undefined ? {} : { removed }),
      ...(changed === undefined ? {} : { changed }),
      ...(enqueued === undefined ? {} : { enqueued }),
      ...(received === undefined ? {} : { received }),
    };
  }

  /** Whether anything of this life is stored: the next one has another number then. */
  get isLifeWritten(): boolean {
    return this.#lifeWritten;
  }

  /** Number of this life. */
  get epoch(): number {
    return this.#epoch;
  }

  /** An id for a message that this queue makes itself: 32 hexadecimal digits. */
  newMessageId(): string {
    return this.ports.newMessageId?.() ?? newId();
  }

  /** Within a turn: adds a write to its commit. */
  write(write: () => void): void {
    this.#writes.push(write);
  }

  /** Whether a turn has something to commit by now. */
  get hasUnwritten(): boolean {
    return this.queue.changes.size > 0 || this.#writes.length > 0;
  }

  /** Lets time do its part: what the alarm is for. */
  wake(): Promise<void> {
    return this.submit(() => {});
  }

  /** The same for those who need not know when it is done. A turn that fails says so itself. */
  wakeUp(): void {
    this.wake().catch(() => {});
  }

  /** The queue's own `delivery_delay` in seconds. */
  get deliveryDelaySeconds(): number {
    return this.ports.definitionOf(this.name)?.deliveryDelaySeconds ?? 0;
  }

  /** Deletes every message; those on their way to another queue have left this one. */
  purge(): Promise<PurgeReply> {
    return this.submit(() => {
      this.deduplication.clear();
      return { purged: purge(this.queue) };
    });
  }

  /** Undoes a receive whose answer has reached nobody. */
  giveBack(receipts: readonly string[]): Promise<void> {
    return this.submit(() => {
      for (const receipt of receipts) giveBackByReceipt(this, receipt);
    });
  }

  /** Deletes messages by their receipts: one outcome for each. */
  deleteBatch(receipts: readonly string[]): Promise<DeleteOutcome[]> {
    return this.submit(() => receipts.map((receipt) => deleteByReceipt(this, receipt)));
  }

  /** Changes visibility timeouts by receipts: one outcome for each. */
  changeVisibilityBatch(changes: readonly VisibilityChange[]): Promise<VisibilityOutcome[]> {
    return this.submit(() => changes.map((change) => changeByReceipt(this, change)));
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

  /** What waits, as of the last turn. */
  metrics(): BacklogMetrics {
    return metricsOf(this.queue);
  }

  /** What is in delivery is told as of the last turn; `caughtUp` makes one if there is something to tell. */
  describe(): QueueDescription {
    return describe(this);
  }

  /** The records of a segment. Throws when its row is gone: damage, since memory says that it has messages. */
  readonly payloadOf = (segmentId: number): PackedIndex => {
    const cached = this.cache.get(segmentId);
    if (cached !== undefined) return cached;
    const bytes = this.ports.store.readPayload(segmentId);
    if (bytes === null) throw new Error(`segment ${segmentId} of queue "${this.name}" has lost its payload`);
    const payload = new PackedIndex(bytes);
    this.cache.use(segmentId, payload);
    return payload;
  };

  /** Answers how long those messages are leased that leave with it: to a Worker for longer than its handler may run. */
  #turn(jobs: () => void): LeavingLeases {
    this.#turnMs = this.ports.clock.now();
    try {
      return this.#runTurn(jobs, this.#turnMs);
    } finally {
      this.#turnMs = null;
    }
  }

  #runTurn(jobs: () => void, nowMs: number): LeavingLeases {
    jobs();
    this.tasks.run(nowMs);
    this.intake.store(nowMs);
    passTime(this);
    this.receivers.serve(nowMs);
    const deliveries = this.dispatcher.takeBatches(nowMs);
    const work = this.daemon.take(nowMs);
    this.deduplication.write(nowMs);
    this.attempts.expire(nowMs);
    this.#write();
    this.receivers.lookAgain();
    this.dispatcher.start(deliveries);
    this.daemon.start(work);
    this.outbox.start();
    this.moves.start();
    armNextWake(this);
    this.cache.trim();
    if (work.length > 0 || this.receivers.hasAnswers) return "brief";
    return deliveries.length > 0 ? "long" : "none";
  }

  #write(): void {
    const { store } = this.ports;
    if (!this.hasUnwritten) return;
    const writes = this.#writes;
    this.#writes = [];
    store.commit(() => {
      if (!this.#lifeWritten) {
        store.writeLife(this.#epoch, this.name);
        this.ports.writeFirst?.();
      }
      writeChanges(this.queue, store, this.cache, this.#withState);
      for (const write of writes) write();
    });
    this.#lifeWritten = true;
  }
}
