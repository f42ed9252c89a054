import {
  advance,
  changeDelay,
  changeRules,
  counts,
  createQueue,
  encodeIndex,
  endPushLeases,
  expireLeases,
  expireRetention,
  nextWakeAt,
  purge,
  type Queue,
  type Slice,
} from "@sluice/engine";
import {
  type BacklogMetrics,
  type DeleteOutcome,
  type DrainReply,
  type EnqueueReply,
  isTopicObject,
  type MessageCounts,
  PackedIndex,
  type PurgeReply,
  QUEUE_ERROR_CODES,
  type QueueDescription,
  type QueueWork,
  type QueueWorkDone,
  type RpcFailure,
  type SendReply,
  type SendRequest,
  SQS_RECORD_BYTES_MAX,
  type VisibilityChange,
  type VisibilityOutcome,
} from "@sluice/protocol";
import { admit } from "./admit.ts";
import { Attempts } from "./attempts.ts";
import { writeChanges } from "./changes.ts";
import { DamageLog } from "./damage-log.ts";
import { BURIED_BYTES_MAX, buryDead } from "./dead-letter.ts";
import { Deduplication } from "./deduplication.ts";
import { PushDispatcher } from "./dispatcher.ts";
import { isForNotifications } from "./endpoint/dead-notification.ts";
import { buryExpired } from "./endpoint/notification-life.ts";
import { PeriodicTasks } from "./endpoint/periodic-tasks.ts";
import { WorkerDaemon } from "./endpoint/worker-daemon.ts";
import { enqueue } from "./enqueue.ts";
import { giveBackPushLeases } from "./give-back.ts";
import { GroupCommit, type LeavingLeases } from "./group-commit.ts";
import { type Incoming, storeIncoming } from "./incoming.ts";
import { loadSegments } from "./load.ts";
import { Moves } from "./moves.ts";
import { Outbox } from "./outbox.ts";
import { PayloadCache } from "./payload-cache.ts";
import type { HandOver, HandOverReply, QueuePorts } from "./ports.ts";
import { Receivers } from "./receivers.ts";
import { lapseDelayMs } from "./retry-delay.ts";
import { rulesOf } from "./rules.ts";
import { changeByReceipt, deleteByReceipt, giveBackByReceipt } from "./settle-receipts.ts";
import { takeItems } from "./take.ts";
import { Throttled } from "./throttled.ts";
import { Topic } from "./topic.ts";

/** Ids of one life of the outbox; must be the engine's factor too, so that one epoch numbers both. */
const IDS_PER_EPOCH = 2 ** 32;

/**
 * While a delivery or a hand-over runs the alarm is at most this far away, in ms: after a crash nothing else would wake the
 * object, or not before the lease expires, which for a `queue()` handler is 15 minutes.
 */
export const HEARTBEAT_MS = 5_000;

/** Packed bytes that may wait for their commit at a time; a Durable Object has 128 MB for everything. */
export const UNCOMMITTED_BYTES_MAX = 32_000_000;

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
  readonly #dispatcher: PushDispatcher;
  readonly #daemon: WorkerDaemon;
  readonly #tasks: PeriodicTasks;
  readonly #epoch: number;
  /** Segments with a row in `segment_states`. */
  #withState = new Set<number>();
  /** What the next turn takes in, and writes of its jobs that are not the engine's. */
  #incoming: Incoming[] = [];
  #incomingCount = 0;
  #writes: (() => void)[] = [];
  #lifeWritten = false;
  #uncommittedBytes = 0;
  #messagesTaken = 0;

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
    this.outbox = new Outbox(this, this.#epoch * IDS_PER_EPOCH);
    this.receivers = new Receivers(this);
    this.deduplication = new Deduplication(this, this.#epoch * IDS_PER_EPOCH);
    this.attempts = new Attempts(this);
    this.moves = new Moves(this);
    this.topic = new Topic(this, this.#epoch * IDS_PER_EPOCH);
    this.throttled = new Throttled(this, store.readEpoch() > 0);
    this.#dispatcher = new PushDispatcher(this);
    this.#daemon = new WorkerDaemon(this);
    this.#tasks = new PeriodicTasks(this);
    this.#load();
  }

  get nowMs(): number {
    return this.ports.clock.now();
  }

  /** Goes by the definition that `ports.definitionOf` gives from now on. `change` makes it give another one. */
  reconfigure(change: () => void, write: () => void): Promise<void> {
    return this.submit(() => {
      const delaySeconds = this.deliveryDelaySeconds;
      change();
      changeRules(this.queue, rulesOf(this.ports.definitionOf(this.name)));
      this.#changeDelay(delaySeconds);
      this.write(write);
    });
  }

  /** At the start, when the queue had another delay in its last life. A turn: what is due by the new one must not wait on. */
  delayWas(seconds: number): void {
    if (seconds !== this.deliveryDelaySeconds) this.submit(() => this.#changeDelay(seconds)).catch(() => {});
  }

  /** Within a turn: a FIFO queue's new delay holds for messages that still wait for the old one too. */
  #changeDelay(seconds: number): void {
    const { queue, ports, nowMs, deliveryDelaySeconds } = this;
    if (!queue.isFifo || seconds === deliveryDelaySeconds) return;
    for (const id of changeDelay(queue, 1_000 * seconds, 1_000 * deliveryDelaySeconds, nowMs)) {
      this.write(() => {
        const segment = queue.segments.get(id);
        if (segment !== undefined) ports.store.writeIndex(id, encodeIndex(segment));
      });
    }
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

  /**
   * Stores the batches of one call, all or none, and answers when they are durable. What is over a limit is refused with
   * its code; when more waits for the commit than memory should hold, 10250.
   */
  async send(requests: readonly SendRequest[]): Promise<SendReply> {
    const admitted = admit(requests, this.deliveryDelaySeconds);
    if (!admitted.ok) return admitted;
    const taken = await this.takeIn(bytesOf(requests), () => {
      // The fast path looks at no message: nobody asks what became of each.
      if (!this.queue.isFifo) this.accept(admitted.incoming);
      else for (const incoming of admitted.incoming) enqueue(this, incoming);
    });
    return taken.ok ? { ok: true, metrics: this.metrics() } : taken;
  }

  /** `send` for one batch of a dialect with larger messages, that wants to know what became of each. */
  async enqueue(request: SendRequest): Promise<Exclude<EnqueueReply, { ok: "outdated" }>> {
    const admitted = admit([request], this.deliveryDelaySeconds, SQS_RECORD_BYTES_MAX);
    if (!admitted.ok) return admitted;
    const taken = await this.takeIn(bytesOf([request]), () => {
      if (this.queue.isFifo) return admitted.incoming.flatMap((incoming) => enqueue(this, incoming));
      this.accept(admitted.incoming);
      return null;
    });
    return taken.ok ? { ok: true, messages: taken.result } : taken;
  }

  /** Does what several requests want of the queue in one turn. */
  async work({ enqueue: request, receive, remove, change }: QueueWork): Promise<QueueWorkDone> {
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

  /** Runs `take` in a turn, unless more waits for its commit than may. */
  async takeIn<Result>(
    bytes: number,
    take: () => Result,
  ): Promise<{ readonly ok: true; readonly result: Result } | RpcFailure> {
    if (this.#uncommittedBytes + bytes > UNCOMMITTED_BYTES_MAX || this.deduplication.isFull) {
      return {
        ok: false,
        code: QUEUE_ERROR_CODES.queueOverloaded,
        cause: "Queue is overloaded. Please back off.",
      };
    }
    this.#uncommittedBytes += bytes;
    try {
      return { ok: true, result: await this.#commit.submitGated(take) };
    } finally {
      this.#uncommittedBytes -= bytes;
    }
  }

  /** Within a turn: takes messages in. */
  accept(incoming: readonly Incoming[]): void {
    this.#incoming.push(...incoming);
    for (const { index } of incoming) {
      this.#messagesTaken += index.count;
      this.#incomingCount += index.count;
    }
  }

  /** Within a turn: the sequence number of the next message that is taken in. */
  get nextSeq(): number {
    return this.queue.nextSeq + this.#incomingCount;
  }

  /** Messages that were taken in by this life, those of a turn that runs included. */
  get messagesTaken(): number {
    return this.#messagesTaken;
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
    return this.ports.newMessageId?.() ?? crypto.randomUUID().replaceAll("-", "");
  }

  /** Within a turn: adds a write to its commit. */
  write(write: () => void): void {
    this.#writes.push(write);
  }

  /** Lets time do its part: what the alarm is for. */
  wake(): Promise<void> {
    return this.submit(() => {});
  }

  /** The same for those who need not know when it is done. A turn that fails says so itself. */
  wakeUp(): void {
    this.wake().catch(() => {});
  }

  /** Takes messages of another queue, once each, and answers when they are durable. */
  take(handOver: HandOver): Promise<HandOverReply> {
    return this.submit(() =>
      takeItems(this, handOver, (index) => {
        const incoming = { index, delaySeconds: this.deliveryDelaySeconds };
        // A FIFO queue tells duplicates among all that is sent to it, by topics too (spec sns-delivery 8.6).
        if (isTopicObject(handOver.source)) enqueue(this, incoming);
        else this.accept([incoming]);
      }),
    );
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
    return this.submit(() => this.#daemon.drain(this.nowMs));
  }

  /** Where the messages stand now: a turn, so that no visibility timeout that has ended counts. */
  async messageCounts(): Promise<MessageCounts> {
    await this.wake();
    advance(this.queue, this.nowMs);
    const { ready, leased, delayed } = counts(this.queue);
    return { visible: ready, notVisible: leased, delayed };
  }

  metrics(): BacklogMetrics {
    const figures = counts(this.queue);
    return {
      backlogCount: figures.ready + figures.delayed,
      backlogBytes: figures.waitingBytes,
      oldestMessageTimestampMs: figures.oldestWaitingMs ?? 0,
    };
  }

  /** What is in delivery is told as of the last turn; `caughtUp` makes one if there is something to tell. */
  describe(): QueueDescription {
    advance(this.queue, this.nowMs);
    const figures = counts(this.queue);
    return {
      queue: this.name,
      nowMs: this.nowMs,
      awakeSinceMs: this.awakeSinceMs,
      ready: figures.ready,
      delayed: figures.delayed,
      leased: figures.leased,
      backlogBytes: figures.waitingBytes,
      oldestMessageTimestampMs: figures.oldestWaitingMs ?? 0,
      rowsWritten: this.ports.store.rowsWritten,
      rowsRead: this.ports.store.rowsRead,
      damage: this.damage.entries,
      consumer: this.#dispatcher.health ?? this.#daemon.health,
      lastMove: this.moves.list()[0] ?? null,
    };
  }

  /** The records of a segment. Throws when its row is gone: damage, since memory says that it has messages. */
  readonly payloadOf = (segmentId: number): PackedIndex => {
    const cached = this.cache.get(segmentId);
    if (cached !== undefined) return cached;
    const bytes = this.ports.store.readPayload(segmentId);
    if (bytes === null) throw new Error(`segment ${segmentId} of queue "${this.name}" has lost its payload`);
    const payload = new PackedIndex(bytes);
    this.cache.set(segmentId, payload);
    return payload;
  };

  /** Within a turn: reports messages of a segment as lost, with the reason. */
  messagesLost(
    { segmentId, from, to }: Pick<Slice, "segmentId" | "from" | "to">,
    count: number,
    reason: unknown,
  ): void {
    // Where it was: damage is listed once by its text, and two that are alike must not pass for one.
    const where = `segment ${segmentId}, within messages ${from} to ${to - 1}`;
    this.damage.note("messagesLost", count, `${count} message(s) are lost: ${reason} (${where})`);
  }

  /** Sets the alarm to the next moment at which anything is due. */
  arm(): void {
    const moments = [
      nextWakeAt(this.queue, false),
      this.#nextBatchAtMs(),
      this.#dispatcher.overdueAtMs,
      this.#dispatcher.retryAtMs,
      this.#dispatcher.lookAtMs,
      this.#daemonAtMs(),
      this.#tasks.dueAtMs,
      this.outbox.retryAtMs,
      this.deduplication.forgetAtMs,
      this.attempts.forgetAtMs,
      this.moves.dueAtMs,
      this.#dispatcher.busy || this.outbox.busy || this.moves.busy ? this.nowMs + HEARTBEAT_MS : null,
    ].filter((moment) => moment !== null);
    if (moments.length > 0) this.ports.setAlarm(Math.min(...moments));
    const { wakeAtMs } = this.receivers;
    if (wakeAtMs === null) return;
    if (this.ports.setTimer === undefined) this.ports.setAlarm(wakeAtMs);
    else this.ports.setTimer(wakeAtMs);
  }

  /** When a batch is due that may be delivered, in ms; `null` if none is. */
  #nextBatchAtMs(): number | null {
    if (!this.#dispatcher.open) return null;
    const wakeMs = nextWakeAt(this.queue, true);
    return wakeMs === null ? null : Math.max(wakeMs, this.throttled.nextMs);
  }

  /** When the worker daemon has something to do. All of its connections are taken: a crash must not keep what waits for one. */
  #daemonAtMs(): number | null {
    const { wakeAtMs, busy } = this.#daemon;
    return wakeAtMs !== null && busy ? Math.max(wakeAtMs, this.nowMs + HEARTBEAT_MS) : wakeAtMs;
  }

  /** Answers how long those messages are leased that leave with it: to a Worker for longer than its handler may run. */
  #turn(jobs: () => void): LeavingLeases {
    jobs();
    const nowMs = this.nowMs;
    this.#tasks.run(nowMs);
    storeIncoming(this.queue, this.#incoming, this.payloadOf, this.cache, nowMs);
    this.#incoming = [];
    this.#incomingCount = 0;
    this.passTime();
    this.receivers.serve(nowMs);
    const deliveries = this.#dispatcher.takeBatches(nowMs);
    const work = this.#daemon.take(nowMs);
    this.deduplication.write(nowMs);
    this.attempts.expire(nowMs);
    this.#write();
    this.receivers.lookAgain();
    this.#dispatcher.start(deliveries);
    this.#daemon.start(work);
    this.outbox.start();
    this.moves.start();
    this.arm();
    this.cache.trim();
    if (work.length > 0 || this.receivers.hasAnswers) return "brief";
    return deliveries.length > 0 ? "long" : "none";
  }

  /** Within a turn: lets time do its part. A job that must not see what is over calls it before the turn does. */
  passTime(): void {
    const { nowMs } = this;
    const lapsed = expireLeases(this.queue, nowMs, (failed) => lapseDelayMs(this, failed), BURIED_BYTES_MAX);
    this.#dispatcher.noteLapsed(lapsed, nowMs);
    buryDead(this, lapsed.dead, "its lease expired");
    const slices: Slice[] = [];
    const expired = expireRetention(this.queue, nowMs, (slice) => slices.push(slice));
    if (isForNotifications(this.ports.definitionOf(this.name))) {
      buryExpired(this, slices);
    } else if (expired > 0) {
      this.ports.log.warn(
        `Queue "${this.name}": ${expired} message(s) were kept for the retention period of ` +
          `${this.queue.rules.retentionMs / 1000} s and are deleted`,
      );
    }
  }

  #write(): void {
    const { store } = this.ports;
    if (this.queue.changes.size === 0 && this.#writes.length === 0) return;
    const writes = this.#writes;
    this.#writes = [];
    store.commit(() => {
      if (!this.#lifeWritten) store.writeLife(this.#epoch, this.name);
      writeChanges(this.queue, store, this.cache, this.#withState);
      for (const write of writes) write();
    });
    this.#lifeWritten = true;
  }

  #load(): void {
    const { ports } = this;
    const { log } = ports;
    const nowMs = this.nowMs;
    this.#withState = loadSegments(this.queue, ports.store, this.damage, nowMs);
    this.outbox.load();
    for (const { key, bytes } of ports.store.notes()) {
      if (this.deduplication.restore(key, bytes) || this.attempts.restore(key, bytes)) continue;
      if (this.#tasks.restore(key, bytes)) continue;
      this.moves.restore(key, bytes);
    }
    const { retried, dead } = this.#endLeases(nowMs);
    if (retried > 0) {
      log.info(
        `Queue "${this.name}": ${retried} message(s) were in delivery when the broker stopped and are delivered again`,
      );
    }
    buryDead(this, dead, "the broker stopped during its last delivery");
    // What an earlier life left behind goes on by itself, without a call from outside.
    const { segments, changes } = this.queue;
    const unwritten = changes.size + this.#writes.length;
    const isDue =
      this.outbox.retryAtMs ??
      this.moves.dueAtMs ??
      this.deduplication.forgetAtMs ??
      this.attempts.forgetAtMs ??
      this.#tasks.dueAtMs;
    if (segments.size > 0 || unwritten > 0 || isDue !== null) this.wakeUp();
  }

  /** Ends what an earlier life was delivering, and answers with how many messages are delivered again and which died. */
  #endLeases(nowMs: number): { readonly retried: number; readonly dead: readonly Slice[] } {
    if (this.ports.wasStorageFull === true) {
      return { retried: giveBackPushLeases(this.queue, nowMs), dead: [] };
    }
    const { retried, dead } = endPushLeases(this.queue, nowMs);
    return { retried: retried.reduce((sum, slice) => sum + slice.to - slice.from, 0), dead };
  }
}

function bytesOf(requests: readonly SendRequest[]): number {
  return requests.reduce((sum, { packed }) => sum + packed.byteLength, 0);
}
