import type { BrokerEnv, Instruments } from "@sluice/broker";
import type { QueueCore, QueuePorts, Transfer, Undeliverable } from "@sluice/broker/testing";
import type { QueueRules } from "@sluice/engine";
import type { ObjectState } from "@sluice/objects/parts";
import {
  type Delivery,
  type DeliveryResult,
  isTopicObject,
  type LastEnd,
  lastEndText,
  type NewMove,
  type QueueDefinition,
  type QueueRecord,
} from "@sluice/protocol";
import type { AppliedCommit, PendingBatch } from "../ledger/applied-commit.ts";
import type { CommitRecord } from "../ledger/change.ts";
import type { RegisteredRow } from "../ledger/directory-ledger.ts";
import { Ledger } from "../ledger/ledger.ts";
import { FROM_PRODUCER, type Origin, originOf } from "../ledger/origin.ts";
import { tagsOf } from "../ledger/tags.ts";
import { bindingsOf, NOWHERE, type ReachedWorld } from "./bindings.ts";
import type { CalledEndpoint, CalledWorker } from "./called.ts";
import { Commits, StoredRows, type WrittenSegment } from "./commits.ts";
import type { SimulatedStorage, Version } from "./disk.ts";
import { CRASHED, Epoch, type EpochEnd, PLANNED } from "./epoch.ts";
import { QueueSettings } from "./queue-settings.ts";
import { ReceivesUnderWay } from "./receives-under-way.ts";
import { RecordedStore, type Written } from "./recorded-store.ts";
import { type End, SimulatedObject } from "./simulated-object.ts";
import { queueClassOf, type SimulatedQueue } from "./simulated-queue.ts";

/** The world as a queue's object uses it: with the other queues, and with the checkers. */
export interface QueueWorld extends ReachedWorld {
  readonly queues: readonly QueueObject[];
  queueNamed(name: string): QueueObject | undefined;
  check(moment: "written", queue: QueueObject, segments: readonly WrittenSegment[]): void;
  check(moment: "committed", queue: QueueObject, commit: AppliedCommit): void;
  check(moment: "afterEvent", queue: QueueObject): void;
  check(moment: "dropped", queue: QueueObject, what: { readonly revision: number }): void;
  check(moment: "registered", queue: QueueObject, row: RegisteredRow): void;
  check(moment: "taken", queue: QueueObject, pendingBatch: PendingBatch): void;
}

/** Share of ends that are announced: a reload, a stop by a signal, a deployment. */
const PLANNED_ENDS = 0.3;

/** Longest time between two checks whether a queue has a turn under way, in ms. */
const LOOK_AGAIN_MS_MAX = 100;

/** Meaning of a version: a commit, or a drop. */
type Note =
  | { readonly kind: "commit"; readonly commit: CommitRecord; readonly record: QueueRecord | null }
  | { readonly kind: "drop"; readonly revision: number };

/** The object of a queue or of a topic: the broker's own class on a simulated host, and state for the checkers. */
export class QueueObject extends SimulatedObject {
  readonly index: number;
  readonly ledger: Ledger;
  /** Receives that are not answered. */
  readonly receives = new ReceivesUnderWay(() => this.epoch?.number ?? this.epochs + 1);
  readonly world: QueueWorld;
  readonly rows = new StoredRows(this.disk);
  epoch: Epoch | null = null;
  epochs = 0;
  #lastEnd = CRASHED;
  consumer: CalledWorker | null = null;
  endpoint: CalledEndpoint | null = null;
  /** Whether a topic has copies for it. */
  isSubscribed = false;
  /** Set once the queue has been deleted; `fate` says what becomes of copies that a topic still has for it. */
  gone: { readonly fate: Undeliverable } | null = null;
  /** Time in which its worker daemon may receive nothing, and the epoch for which that holds. */
  drained: { readonly fromMs: number; readonly untilMs: number; readonly epoch: number } | null = null;
  /** Move tasks that were requested, by their ids. */
  readonly movesAskedFor = new Map<string, NewMove>();
  /** Ids of move tasks for which a cancellation was requested. */
  readonly movesCancelled = new Set<string>();
  readonly settings: QueueSettings;
  /** Revision of the record that its object has stored durably; `null` if none is. */
  durableRevision: number | null = null;
  /** Whether it has dropped everything, and the drop is not durable yet. */
  isDropping = false;
  readonly #commits = new Commits(this.rows);

  constructor(world: QueueWorld, index: number, name: string, definition: QueueDefinition) {
    super(world, name);
    this.world = world;
    this.index = index;
    this.ledger = new Ledger(index, (tag) => this.#originOf(tag), world.copies, world.moved);
    this.settings = new QueueSettings(definition);
  }

  /** Whether it is a topic's object: it keeps no messages. */
  get isTopic(): boolean {
    return isTopicObject(this.name);
  }

  /** The queue itself in a history with a directory; `null` where its settings come with the code. */
  get registered(): Pick<QueueObject, "record" | "isAbsent"> | null {
    return this.world.directory === null ? null : this;
  }

  /** Record that the running object goes by; `null` for a queue that does not exist, or whose object does not run. */
  get record(): QueueRecord | null {
    return this.epoch?.registration?.record ?? null;
  }

  /** Whether the running object has heard that there is no such queue. */
  get isAbsent(): boolean {
    const registration = this.epoch?.registration ?? null;
    return registration !== null && registration.definition === undefined;
  }

  /** Whether a caller can get the answer that the queue does not exist. */
  get mayBeMissing(): boolean {
    return this.gone !== null || this.world.directory?.ledger.wasEverMissing(this.name) === true;
  }

  /** Worker or endpoint that is called with the queue's messages; `null` if there is none. */
  get called(): CalledWorker | CalledEndpoint | null {
    if (this.registered !== null && this.definition.consumer === null) return null;
    return this.consumer ?? this.endpoint;
  }

  get definition(): QueueDefinition {
    return this.settings.definition;
  }

  get rules(): QueueRules {
    return this.settings.rules;
  }

  /** Name of the Worker that it pushes to, which is the queue's; `null` where it pushes to none. */
  get worker(): string | null {
    return this.consumer === null ? null : this.name;
  }

  /** How the epoch before this one has ended, as this one was told. */
  get endTold(): LastEnd {
    return (this.epoch?.lastEnd ?? this.#lastEnd).told;
  }

  /** Calls its Worker before the writes are durable, for planted mistakes; `null` without a Worker. */
  get deliverAtOnce(): ((delivery: Delivery) => Promise<DeliveryResult>) | null {
    const { consumer, epoch } = this;
    return consumer && epoch && ((delivery) => consumer.deliver(epoch, delivery));
  }

  /** Time until which its Worker has to wait for other Workers, in ms. */
  get heldUntilMs(): number {
    return this.epoch?.heldUntilMs(this.worker) ?? 0;
  }

  /** Whether a message's retention can have been over when it was transferred: then it has come and gone. */
  canHaveBeenOver(tag: number): boolean {
    const { shortestRules: rules, definition } = this.settings;
    return this.ledger.isOverOnArrival(tag, { atMs: this.world.nowMs, rules, definition });
  }

  /** Carries a call out within the queue's object, when it arrives there. Throws if the queue does not exist. */
  perform<Answer>(run: (core: QueueCore, object: SimulatedQueue) => Promise<Answer>): Promise<Answer> {
    return this.call("perform", this.name, run);
  }

  /**
   * Calls the object when no turn is under way, so that the call gets a turn of its own: the ledger could not tell
   * which settings the other work of a shared turn went by.
   */
  async callAlone(method: string, ...args: readonly unknown[]): Promise<void> {
    this.isTouched = true;
    this.start();
    const { epoch } = this;
    let core: QueueCore | null;
    let waitMs = 1;
    do {
      if (epoch?.core?.isCaughtUp === false) void epoch.core.wake();
      await this.world.loop.sleep(waitMs);
      waitMs = Math.min(2 * waitMs, LOOK_AGAIN_MS_MAX);
      this.isTouched = true;
      if (this.epoch !== epoch) throw new Error("the object has ended");
      core = epoch?.core ?? null;
    } while (epoch?.isOpening === true || !this.disk.isSynced || core?.isCaughtUp === false);
    await this.call(method, this.name, ...args);
  }

  /** Deletes the queue with everything in it, in a history whose settings come with the code. */
  remove(fate: Undeliverable): void {
    this.world.note("queue is deleted", this.name, this.ledger.counts.waiting + this.ledger.counts.leased);
    this.evict();
    this.gone = { fate };
    this.isSubscribed = fate.kind === "deadLetter";
    this.start();
  }

  /** Ends the object. Some of the commits that are not durable may have reached the disk, each as a whole. */
  crash(): void {
    const { disk, world, epoch } = this;
    if (epoch === null) return;
    const version = world.random.between(disk.durableVersion, disk.committedVersion);
    const isLoss = version < disk.committedVersion;
    if (epoch.core?.isCaughtUp === false) world.faults["crash while a settlement waits"] += 1;
    world.faults[isLoss ? "crash before the commit is durable" : "crash with everything durable"] += 1;
    this.end({ how: "crashes", version });
  }

  /** Ends the object together with its runtime, which a Worker hangs. */
  hang(end: EpochEnd): void {
    this.crash();
    this.#lastEnd = end;
  }

  /** Ends the object in peace: everything is durable. */
  evict(): void {
    if (this.epoch === null) return;
    this.end({ how: "is evicted", version: this.disk.committedVersion });
    if (this.world.isTroubled) this.world.faults.eviction += 1;
  }

  /** Calls the checkers at the end of an event, if the queue had a part in it. */
  check(): void {
    if (!this.isTouched) return;
    this.isTouched = false;
    const live = this.epoch?.core?.queue.segments;
    const segments = this.#commits.takeUnchecked(live);
    if (live !== undefined) this.world.check("written", this, segments);
    this.world.check("afterEvent", this);
  }

  trouble(): void {
    const { rates, random, loop } = this.world;
    if (this.world.fault(rates.cacheDropped, "cache dropped")) loop.after(0, () => this.#dropCache());
    const ends = random.chance(rates.crash) ? "crash" : random.chance(rates.evict) ? "evict" : null;
    if (ends === null) return;
    const { epoch } = this;
    const isPlanned = random.chance(PLANNED_ENDS);
    loop.after(random.pick([0, 0, 1, 2]), () => {
      if (this.epoch !== epoch || epoch === null) return;
      this[ends]();
      this.#lastEnd = isPlanned ? PLANNED : CRASHED;
      if (isPlanned) this.world.faults["end that was planned"] += 1;
    });
  }

  /** Alters the record that the directory sends to the queue if a mistake is planted there. */
  toldAs(record: QueueRecord): QueueRecord {
    const { bug } = this.world;
    return bug?.directory === "dropsAlways" ? { ...record, emptyAsOf: record.revision } : record;
  }

  /** Records that copies of a topic have come for a deleted queue and are dropped, if its `fate` says so. */
  noteDropped({ packed, more = [] }: Transfer): void {
    if (this.gone?.fate.kind !== "dropped") return;
    for (const tag of [packed, ...more.map((item) => item.packed)].flatMap(tagsOf)) {
      if (!this.ledger.messages.has(tag)) this.ledger.passedOn.add(tag);
    }
  }

  /** Drops all cached payloads between two turns, as a full cache does. */
  #dropCache(): void {
    const core = this.epoch?.core;
    if (core == null) return;
    this.world.note("cache is dropped", this.name, core.queue.segments.size);
    for (const id of core.queue.segments.keys()) core.cache.delete(id);
  }

  protected override started(): void {
    const { world, disk } = this;
    this.epochs += 1;
    world.note("queue starts", this.name, this.epochs, disk.durableVersion);
    const cutOffDelayMs = world.random.pick([0, 0, 1, 4_000]);
    this.epoch = new Epoch(this.epochs, world.nowMs, this.#lastEnd, cutOffDelayMs);
    this.#lastEnd = CRASHED;
  }

  protected override construct(state: ObjectState, storage: SimulatedStorage): object {
    const { world, epoch } = this;
    storage.gateIsOpen = world.bug?.gateIsOpen === true;
    if (epoch === null) throw new Error("an object without an epoch");
    const leave = <Answer>(start: () => Promise<Answer>) => this.leave(storage, start);
    const { env, endpoints } = bindingsOf(this, epoch, leave);
    // Without history a queue's epochs alternate between the settings of a server and those of a billed platform.
    const place = world.keepsHistory ? "development" : epoch.number % 2 === 0 ? "local" : undefined;
    const QueueClass = queueClassOf(
      this,
      {
        topology: { queues: {} },
        consumers: { [this.name]: "CONSUMER" },
        hostOf: ((ctx: ObjectState, bindings: object) =>
          this.hostOf(ctx, storage, bindings, (work) =>
            ctx.blockConcurrencyWhile(async () => {
              try {
                return await work();
              } finally {
                epoch.isOpening = false;
              }
            }),
          )) as never,
        instruments: this.#instrumentsOf(epoch),
      },
      endpoints ?? NOWHERE,
    );
    return new QueueClass(
      state as never,
      { ...env, SLUICE_ENV: place, SLUICE_LAST_END: lastEndText(epoch.lastEnd.told) } as unknown as BrokerEnv,
    );
  }

  protected override ended(how: End["how"], lost: number): void {
    const { epoch, world } = this;
    world.note(`queue ${how}`, this.name, epoch?.number ?? 0, lost);
    if (how === "breaks") world.faults["commit failed"] += 1;
    if (epoch !== null) epoch.isAlive = false;
    this.epoch = null;
    this.isDropping = false;
    this.#commits.clear();
  }

  protected override error(text: string, storage: SimulatedStorage): void {
    super.error(text, storage);
    // No history damages a disk, so a queue that reports lost or damaged messages has lost them itself.
    if (!storage.isOver && REPORTS_LOSS.test(text)) this.world.fail("conservation", this, text);
  }

  protected override synced(versions: readonly Version[]): void {
    for (const note of versions.flatMap(({ notes }) => notes as Note[])) {
      if (note.kind === "drop") {
        this.durableRevision = null;
        this.isDropping = false;
        this.world.check("dropped", this, note);
        this.ledger.removeAll();
        continue;
      }
      if (note.record !== null) this.durableRevision = note.record.revision;
      this.world.check("committed", this, this.ledger.enter(note.commit));
    }
  }

  #instrumentsOf(epoch: Epoch): Instruments {
    const { world } = this;
    return {
      openStore: (_name, storage, watchers) => {
        const store = new RecordedStore(storage, watchers, this.disk, {
          committed: (written) => this.#committed(epoch, written),
          dropped: () => {
            epoch.core = null;
            this.isDropping = true;
            this.disk.current.notes.push({ kind: "drop", revision: revision() } satisfies Note);
          },
        });
        let stored = store.readRecord()?.revision ?? 0;
        const revision = () => (stored = Math.max(stored, epoch.registration?.record?.revision ?? 0));
        world.bug?.changeStore?.(store, this);
        return store;
      },
      ports: (_name, ports, registration) => {
        epoch.registration = registration;
        this.settings.follow(registration, this.isTopic);
        world.bug?.changeRegistration?.(registration);
        world.note("queue learns what it is", this.name, registration.record?.revision ?? 0);
        this.#commits.loading({ atMs: world.nowMs, rules: this.rules });
        const own: QueuePorts = {
          ...ports,
          cutOffDelayMs: epoch.cutOffDelayMs,
          newMessageId: () => world.newMessageId(),
          setTimer: (atMs) => {
            const before = this.lastTimer;
            ports.setTimer(atMs);
            if (this.lastTimer !== null && this.lastTimer !== before) epoch.timed(this.lastTimer, atMs);
          },
        };
        return world.bug?.wrapPorts?.(own, this) ?? own;
      },
      begun: (core) => {
        epoch.core = core;
        world.bug?.changeCore?.(core, this);
      },
    };
  }

  /** Most receives with a visibility timeout of 0 that a commit at this moment can contain. */
  get #visibleReceivesMax(): number {
    const { consumer } = this.definition;
    const daemon = consumer?.type === "http_push" ? consumer.settings.daemon : undefined;
    if (daemon !== undefined) return daemon.visibilityTimeoutSeconds === 0 ? 1 : 0;
    return this.receives.waiting.filter(({ visibilityMs }) => visibilityMs === 0).length;
  }

  /** Origin of a message in the last queue that it was in before this one; `null` if it was in none. */
  #originOf(tag: number): Origin | null {
    for (const { ledger, definition } of this.world.queues.slice(0, this.index).reverse()) {
      const message = ledger.messages.get(tag);
      if (message !== undefined) return originOf(message, message.leftUnder ?? definition);
    }
    const publishedMs = this.world.copies.get(tag)?.publishedMs ?? null;
    return publishedMs === null ? null : { ...FROM_PRODUCER, sentMs: publishedMs };
  }

  #committed(epoch: Epoch, written: Written): void {
    const { world, disk } = this;
    const { current } = disk;
    const commit = this.#commits.written(written, {
      version: current.number,
      atMs: world.nowMs,
      epoch: epoch.number,
      cutOffDelayMs: epoch.cutOffDelayMs,
      cutOffCounts: epoch.lastEnd.counts,
      heldUntilMs: epoch.heldUntilMs(this.worker),
      queue: this.name,
      rules: this.rules,
      definition: this.definition,
      visibleReceivesMax: this.#visibleReceivesMax,
      isThere: !this.isAbsent,
      registered: this.registered === null ? null : this.record,
      mayExpireFirst: this.movesAskedFor.size > 0,
      receiving: this.receives.waiting,
    });
    current.notes.push({ kind: "commit", commit, record: written.record } satisfies Note);
    world.note("commit", this.name, current.number, commit.segments.length);
  }
}

/** A queue's words for messages that it cannot read, or that its store has lost. */
const REPORTS_LOSS = /\b(lost|damaged|older than)\b/;
