import type { QueueCore, QueuePorts, Undeliverable } from "@sluice/broker/testing";
import type { QueueRules } from "@sluice/engine";
import {
  beginsAfterMs,
  isTopicObject,
  type NewMove,
  type QueueDefinition,
  type QueueRecord,
} from "@sluice/protocol";
import type { World } from "../history/world.ts";
import type { AppliedCommit } from "../ledger/applied-commit.ts";
import type { DirectoryLedger, RegisteredRow } from "../ledger/directory-ledger.ts";
import { Ledger } from "../ledger/ledger.ts";
import { FROM_PRODUCER, type Origin, originOf } from "../ledger/origin.ts";
import { AlarmRinger } from "./alarm-ringer.ts";
import type { CalledEndpoint, CalledWorker } from "./called.ts";
import { Commits, type WrittenSegment } from "./commits.ts";
import { Disk, type Version } from "./disk.ts";
import { CRASHED, Epoch, type EpochEnd, PLANNED } from "./epoch.ts";
import { QueueSettings } from "./queue-settings.ts";
import { ReceivesUnderWay } from "./receives-under-way.ts";

/** The world as a queue's object knows it: with the others in it, and with those who watch. */
export interface QueueWorld extends World {
  readonly queues: readonly QueueObject[];
  readonly directory: { readonly ledger: DirectoryLedger } | null;
  queueNamed(name: string): QueueObject | undefined;
  check(moment: "written", queue: QueueObject, segments: readonly WrittenSegment[]): void;
  check(moment: "committed", queue: QueueObject, commit: AppliedCommit): void;
  check(moment: "afterEvent", queue: QueueObject): void;
  check(moment: "dropped", queue: QueueObject, what: { readonly revision: number }): void;
  check(moment: "registered", queue: QueueObject, row: RegisteredRow): void;
}

/** Makes the ports of one epoch. `broken` ends that epoch. */
export type MakePorts = (queue: QueueObject, epoch: Epoch, broken: (error: unknown) => void) => QueuePorts;

/** The part of a queue's object that has to do with the directory. */
export interface Registered {
  /** Record that the running object goes by; `null` for a queue that does not exist, or whose object does not run. */
  readonly record: QueueRecord | null;
  /** Whether the running object knows that there is no such queue. */
  readonly isAbsent: boolean;
  /** Finds out what the queue is, and loads it. */
  open(epoch: Epoch): void;
  /** Before messages of another queue are taken: creates a queue that does not exist. */
  ensure(core: QueueCore): Promise<void>;
  /** The directory says what the queue is. */
  configure(record: QueueRecord): Promise<void>;
  /** The directory says that the queue was deleted. */
  clear(revision: number): Promise<void>;
}

/** How many of all ends are announced: a reload, a stop by a signal, a deployment. */
const PLANNED_ENDS = 0.3;

/** A queue's Durable Object: what is stored of it, the epoch that runs now if one does, and its alarm. */
export class QueueObject {
  readonly index: number;
  readonly name: string;
  readonly ledger: Ledger;
  /** Receives that are not answered. */
  readonly receives = new ReceivesUnderWay(() => this.epoch?.number ?? this.epochs + 1);
  readonly ringer: AlarmRinger;
  readonly world: QueueWorld;
  disk: Disk;
  epoch: Epoch | null = null;
  epochs = 0;
  #lastEnd = CRASHED;
  /** Until when its Worker has to wait for those of others, in ms. */
  heldUntilMs = 0;
  /** Whether it had a part in the running event. */
  isTouched = false;
  consumer: CalledWorker | null = null;
  endpoint: CalledEndpoint | null = null;
  /** Whether a topic has copies for it. */
  isSubscribed = false;
  /** Its part that has to do with the directory; `null` where its settings come without one. */
  registered: Registered | null = null;
  /** Set once the queue has been deleted: what becomes of what a topic still has for it. */
  gone: { readonly fate: Undeliverable } | null = null;
  /** Since when nothing may be received by its worker daemon, until when, and in which epoch. */
  drained: { readonly fromMs: number; readonly untilMs: number; readonly epoch: number } | null = null;
  /** Move tasks that somebody has asked for, by their ids. */
  readonly movesAskedFor = new Map<string, NewMove>();
  /** Ids of those that somebody wanted to end. */
  readonly movesCancelled = new Set<string>();
  readonly settings: QueueSettings;
  readonly #makePorts: MakePorts;
  #syncIsScheduled = false;
  readonly #commits = new Commits();

  constructor(
    world: QueueWorld,
    index: number,
    name: string,
    definition: QueueDefinition,
    makePorts: MakePorts,
  ) {
    this.#makePorts = makePorts;
    this.world = world;
    this.index = index;
    this.name = name;
    this.ledger = new Ledger(index, (tag) => this.#originOf(tag), world.copies, world.moved);
    this.ringer = new AlarmRinger(world, this);
    this.settings = new QueueSettings(definition);
    this.disk = new Disk({
      event: () => world.loop.events,
      committed: (version) => this.#committed(version),
      unsynced: () => this.#scheduleSync(),
    });
  }

  /** Whether it is a topic's object: it keeps no messages. */
  get isTopic(): boolean {
    return isTopicObject(this.name);
  }

  /** Deletes the queue with everything in it. */
  remove(fate: Undeliverable): void {
    this.world.note("queue is deleted", this.name, this.ledger.counts.waiting + this.ledger.counts.leased);
    this.evict();
    this.gone = { fate };
    this.isSubscribed = fate.kind === "deadLetter";
    this.#dropDisk();
  }

  /**
   * Ends the object and drops what it holds, of a queue that had a record of that revision: what `ObjectQueue.drop`
   * does.
   */
  drop(revision: number): void {
    this.#end(this.disk.committedVersion, "queue is evicted");
    this.world.check("dropped", this, { revision });
    this.#dropDisk();
  }

  /** Before the queue is loaded: drops what was left of a queue that had a record of that revision. */
  forget(revision: number): void {
    this.world.check("dropped", this, { revision });
    this.disk.drop();
    this.ledger.removeAll();
  }

  #dropDisk(): void {
    this.disk.drop();
    this.disk.deleteAlarm();
    this.ledger.removeAll();
    this.ringer.epochEnded();
  }

  /** Whether somebody who asks for it can be told that it does not exist. */
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

  /** Whether a message can have been too old for the queue when it was transferred: then it has come and gone. */
  canHaveBeenOver(tag: number): boolean {
    const { shortestRules: rules, definition } = this.settings;
    return this.ledger.isOverOnArrival(tag, { atMs: this.world.nowMs, rules, definition });
  }

  /** Most receives with a visibility timeout of 0 that a commit of now can contain. */
  get #visibleReceivesMax(): number {
    const { consumer } = this.definition;
    const daemon = consumer?.type === "http_push" ? consumer.settings.daemon : undefined;
    if (daemon !== undefined) return daemon.visibilityTimeoutSeconds === 0 ? 1 : 0;
    return this.receives.waiting.filter(({ visibilityMs }) => visibilityMs === 0).length;
  }

  /** Resumes delivery and tells the queue, until it has heard of it. */
  resume(): void {
    if (this.settings.delivery === "on") return;
    this.settings.resume();
    this.call((core) => core.wake()).then(
      () => this.settings.resumed(),
      () => this.world.loop.after(1_000, () => this.resume()),
    );
  }

  /** A call to the queue arrives. One that is gone is not found. */
  call<Result>(run: (core: QueueCore) => Promise<Result>): Promise<Result> {
    const missing = () => Promise.reject(new Error(`Queue "${this.name}" does not exist.`));
    if (this.gone !== null) return missing();
    return this.callObject((core) => (this.registered?.isAbsent === true ? missing() : run(core)));
  }

  /** Starts the object if it does not run. */
  start(): void {
    this.#running();
  }

  /** A call arrives; the object is started for it if it does not run. */
  callObject<Result>(run: (core: QueueCore) => Promise<Result>): Promise<Result> {
    this.isTouched = true;
    const epoch = this.#running();
    this.trouble();
    return epoch.call(run).finally(() => {
      this.isTouched = true;
    });
  }

  /** The alarm rings: what `QueueBroker.alarm` does. `done` is not called if the object ends meanwhile. */
  ring(done: () => void): void {
    this.isTouched = true;
    const epoch = this.#running();
    this.trouble();
    epoch.alarm.clear();
    const failed = () => {
      if (!epoch.isAlive) return;
      epoch.alarm.set(this.world.nowMs + 1_000);
      done();
    };
    epoch.call((core) => core.wake()).then(done, failed);
  }

  /** Ends the object. Of the commits that are not durable some may have reached the disk, none of them by half. */
  crash(): void {
    const { disk, world, epoch } = this;
    if (epoch === null) return;
    const kept = world.random.between(disk.durableVersion, disk.committedVersion);
    this.#end(kept, "queue crashes");
    const isLoss = kept < disk.committedVersion;
    if (epoch.core?.isCaughtUp === false) world.faults["crash while a settlement waits"] += 1;
    world.faults[isLoss ? "crash before the commit is durable" : "crash with everything durable"] += 1;
  }

  /** Ends the object with the runtime that it is in: a Worker hangs that. */
  hang(end: EpochEnd): void {
    this.crash();
    this.#lastEnd = end;
    this.heldUntilMs = this.world.nowMs + beginsAfterMs(end.told, this.worker);
  }

  /** The Worker that it pushes to, called like the queue; `null` where it pushes to none. */
  get worker(): string | null {
    return this.consumer === null ? null : this.name;
  }

  /** Ends the object in peace: everything is durable. */
  evict(): void {
    if (this.epoch === null) return;
    this.#end(this.disk.committedVersion, "queue is evicted");
    if (this.world.isTroubled) this.world.faults.eviction += 1;
  }

  /** Lets the checkers look at the queue at the end of an event in which it had a part. */
  check(): void {
    if (!this.isTouched) return;
    this.isTouched = false;
    const live = this.epoch?.core?.queue.segments;
    const segments = this.#commits.takeUnchecked(live);
    if (live !== undefined) this.world.check("written", this, segments);
    this.world.check("afterEvent", this);
  }

  /** A step after which the object may come to an end. */
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

  /** Drops the cache between two turns, as it does by itself when it is full. */
  #dropCache(): void {
    const core = this.epoch?.core;
    if (core == null) return;
    this.world.note("cache is dropped", this.name, core.queue.segments.size);
    for (const id of core.queue.segments.keys()) core.cache.delete(id);
  }

  #running(): Epoch {
    if (this.epoch !== null) return this.epoch;
    const { world, disk } = this;
    this.epochs += 1;
    world.note("queue starts", this.name, this.epochs, disk.durableVersion);
    const setAlarm = (atMs: number) => {
      if (epoch.isAlive) this.ringer.set(atMs);
    };
    const lastEnd = { ...this.#lastEnd, cutOffDelayMs: world.random.pick([0, 0, 1, 4_000]) };
    const isOpening = this.registered !== null;
    const epoch = new Epoch(this.epochs, () => world.nowMs, setAlarm, disk.alarmAtMs, isOpening, lastEnd);
    this.#lastEnd = CRASHED;
    this.epoch = epoch;
    if (this.registered === null) this.load(epoch);
    else this.registered.open(epoch);
    return epoch;
  }

  /** Loads what is stored: the object can be called then. */
  load(epoch: Epoch): void {
    const { world, disk } = this;
    this.#commits.loading(disk, { atMs: world.nowMs, rules: this.rules });
    const ports = this.#makePorts(this, epoch, (error) => this.#broken(epoch, error));
    epoch.begin(this.name, world.bug?.wrapPorts?.(ports, this) ?? ports);
    if (epoch.core !== null) world.bug?.changeCore?.(epoch.core, this);
  }

  #broken(epoch: Epoch, error: unknown): void {
    if (!epoch.isAlive) return;
    this.world.faults["commit failed"] += 1;
    this.world.log.remark(`${this.name} is broken: ${error}`);
    const { disk } = this;
    this.#end(this.world.random.between(disk.durableVersion, disk.committedVersion), "queue breaks");
  }

  #end(version: number, how: "queue crashes" | "queue is evicted" | "queue breaks"): void {
    const { epoch, disk, world } = this;
    this.isTouched = true;
    const lost = disk.committedVersion - version;
    world.note(how, this.name, epoch?.number ?? 0, lost);
    this.epoch = null;
    this.#enter(disk.sync(version));
    this.disk = disk.end();
    this.#syncIsScheduled = false;
    this.#commits.clear();
    epoch?.end();
    this.ringer.epochEnded();
  }

  #scheduleSync(): void {
    if (this.#syncIsScheduled) return;
    this.#syncIsScheduled = true;
    const { world, disk } = this;
    const isSlow = world.fault(world.rates.slowCommit, "slow commit");
    const afterMs = world.random.pick(isSlow ? [50, 700, 6_000] : [0, 0, 1, 3]);
    this.trouble();
    world.loop.after(afterMs, () => {
      if (this.disk === disk) this.#sync();
    });
  }

  #sync(): void {
    const { disk, world } = this;
    this.isTouched = true;
    this.#syncIsScheduled = false;
    const version = world.random.between(disk.durableVersion + 1, disk.committedVersion);
    world.note("durable", this.name, version);
    this.#enter(disk.sync(version));
    if (version < disk.committedVersion) this.#scheduleSync();
    this.trouble();
    disk.releaseWaiters();
  }

  /** The last queue that the tag was in before this one. */
  #originOf(tag: number): Origin | null {
    for (const { ledger, definition } of this.world.queues.slice(0, this.index).reverse()) {
      const message = ledger.messages.get(tag);
      if (message !== undefined) return originOf(message, message.leftUnder ?? definition);
    }
    const publishedMs = this.world.copies.get(tag)?.publishedMs ?? null;
    return publishedMs === null ? null : { ...FROM_PRODUCER, sentMs: publishedMs };
  }

  #enter(versions: readonly Version[]): void {
    for (const record of this.#commits.durable(versions)) {
      this.world.check("committed", this, this.ledger.enter(record));
    }
  }

  #committed(version: Version): void {
    const { world, disk, epoch } = this;
    const record = this.#commits.written(disk, version, {
      atMs: world.nowMs,
      epoch: epoch?.number ?? 0,
      cutOffDelayMs: epoch?.cutOffDelayMs ?? 0,
      cutOffCounts: epoch?.lastEnd.counts !== false,
      heldUntilMs: this.heldUntilMs,
      queue: this.name,
      rules: this.rules,
      definition: this.definition,
      visibleReceivesMax: this.#visibleReceivesMax,
      isThere: this.gone === null && this.registered?.isAbsent !== true,
      registered: this.registered?.record ?? null,
      mayExpireFirst: this.movesAskedFor.size > 0,
      receiving: this.receives.waiting,
    });
    world.note("commit", this.name, version.number, record.segments.length);
  }
}
