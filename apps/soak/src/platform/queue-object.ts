import type { QueueCore, QueuePorts, Undeliverable } from "@sluice/broker/testing";
import type { QueueRules } from "@sluice/engine";
import { isTopicObject, type NewMove, type QueueDefinition } from "@sluice/protocol";
import type { HttpEndpoint } from "../actors/http-endpoint.ts";
import type { PushConsumer } from "../actors/push-consumer.ts";
import type { WrittenSegment } from "../checkers/checker.ts";
import type { World } from "../history/world.ts";
import type { CommitRecord } from "../ledger/change.ts";
import { Ledger } from "../ledger/ledger.ts";
import { FROM_PRODUCER, type Origin, originOf } from "../ledger/origin.ts";
import type { Segment } from "../ledger/view.ts";
import { AlarmRinger } from "./alarm-ringer.ts";
import { readCommit, restoreRow } from "./commit-reader.ts";
import { Disk, type Version } from "./disk.ts";
import { Life } from "./life.ts";
import { portsOf } from "./ports.ts";
import { QueueSettings } from "./queue-settings.ts";
import { ReceivesUnderWay } from "./receives-under-way.ts";
import type { RegisteredQueue } from "./registered-queue.ts";

/** A queue's Durable Object: what is stored of it, the life that runs now if one does, and its alarm. */
export class QueueObject {
  readonly index: number;
  readonly name: string;
  readonly ledger: Ledger;
  /** Receives that are not answered. */
  readonly receives = new ReceivesUnderWay(() => this.life?.number ?? this.lives + 1);
  readonly ringer: AlarmRinger;
  readonly world: World;
  disk: Disk;
  life: Life | null = null;
  lives = 0;
  /** Whether it had a part in the running event. */
  isTouched = false;
  consumer: PushConsumer | null = null;
  endpoint: HttpEndpoint | null = null;
  /** Whether a topic has copies for it. */
  isSubscribed = false;
  /** Its part that has to do with the directory; `null` where its settings come without one. */
  registered: RegisteredQueue | null = null;
  /** Set once the queue has been deleted: what becomes of what a topic still has for it. */
  gone: { readonly fate: Undeliverable } | null = null;
  /** Since when nothing may be received by its worker daemon, until when, and in which life. */
  drained: { readonly fromMs: number; readonly untilMs: number; readonly life: number } | null = null;
  /** Move tasks that somebody has asked for, by their ids. */
  readonly movesAskedFor = new Map<string, NewMove>();
  /** Ids of those that somebody wanted to end. */
  readonly movesCancelled = new Set<string>();
  readonly settings: QueueSettings;
  #syncIsScheduled = false;
  /** Commits that are not durable yet, by version. */
  readonly #commits = new Map<number, CommitRecord>();
  /** Segments that were written or loaded since memory was last compared with the disk. */
  readonly #unchecked = new Map<number, Segment | null>();

  constructor(world: World, index: number, name: string, definition: QueueDefinition) {
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

  /** Ends the object and drops what it holds, of a queue that had a record of that revision: what `ObjectQueue.drop` does. */
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
    this.ringer.lifeEnded();
  }

  /** Whether somebody who asks for it can be told that it does not exist. */
  get mayBeMissing(): boolean {
    return this.gone !== null || this.world.directory?.ledger.wasEverMissing(this.name) === true;
  }

  /** Whoever is called with its messages. */
  get called(): PushConsumer | HttpEndpoint | null {
    if (this.registered !== null && this.definition.consumer === null) return null;
    return this.consumer ?? this.endpoint;
  }

  get definition(): QueueDefinition {
    return this.settings.definition;
  }

  get rules(): QueueRules {
    return this.settings.rules;
  }

  /** Whether a message can have been too old for the queue when it was handed over: then it has come and gone. */
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
    const again = () => this.world.loop.after(1_000, () => this.resume());
    this.call(
      (core) => core.wake(),
      () => this.settings.resumed(),
      again,
    );
  }

  /** A call to the queue arrives. One that is gone is not found. */
  call<Result>(
    run: (core: QueueCore) => Promise<Result>,
    done: (result: Result) => void,
    failed: (error: unknown) => void,
  ): void {
    const missing = () => new Error(`Queue "${this.name}" does not exist.`);
    if (this.gone !== null) {
      failed(missing());
      return;
    }
    const existing = (core: QueueCore) =>
      this.registered?.isAbsent === true ? Promise.reject(missing()) : run(core);
    this.callObject(existing, done, failed);
  }

  /** Starts the object if it does not run. */
  start(): void {
    this.#running();
  }

  /** A call arrives; the object is started for it if it does not run. */
  callObject<Result>(
    run: (core: QueueCore) => Promise<Result>,
    done: (result: Result) => void,
    failed: (error: unknown) => void,
  ): void {
    this.isTouched = true;
    const life = this.#running();
    this.trouble();
    life.call(
      run,
      (result) => {
        this.isTouched = true;
        done(result);
      },
      failed,
    );
  }

  /**
   * What resolves with work that is not durable yet: the output gate holds its answer until it is. That of other work would
   * wait for later commits too, as any answer may come late.
   */
  gated<Result>(work: Promise<Result>): Promise<Result> {
    const { disk, world } = this;
    if (world.bug?.hasNoOutputGate === true) return work;
    return work.then((result) => new Promise((resolve) => disk.whenDurable(() => resolve(result))));
  }

  /** The alarm rings: what `QueueBroker.alarm` does. `done` is not called if the object ends meanwhile. */
  ring(done: () => void): void {
    this.isTouched = true;
    const life = this.#running();
    this.trouble();
    life.alarm.clear();
    const failed = () => {
      if (!life.isAlive) return;
      life.alarm.set(this.world.nowMs + 1_000);
      done();
    };
    life.call((core) => core.wake(), done, failed);
  }

  /** Ends the object. Of the commits that are not durable some may have reached the disk, none of them by half. */
  crash(): void {
    const { disk, world, life } = this;
    if (life === null) return;
    const kept = world.random.between(disk.durableVersion, disk.committedVersion);
    this.#end(kept, "queue crashes");
    const isLoss = kept < disk.committedVersion;
    if (life.core?.isCaughtUp === false) world.faults["crash while a settlement waits"] += 1;
    world.faults[isLoss ? "crash before the commit is durable" : "crash with everything durable"] += 1;
  }

  /** Ends the object in peace: everything is durable. */
  evict(): void {
    if (this.life === null) return;
    this.#end(this.disk.committedVersion, "queue is evicted");
    if (this.world.isTroubled) this.world.faults.eviction += 1;
  }

  /** Lets the checkers look at the queue at the end of an event in which it had a part. */
  check(): void {
    if (!this.isTouched) return;
    this.isTouched = false;
    const live = this.life?.core?.queue;
    if (live !== undefined) {
      const segments: WrittenSegment[] = [];
      for (const [id, written] of this.#unchecked)
        segments.push({ id, written, live: live.segments.get(id) });
      this.world.check("written", this, segments);
    }
    this.#unchecked.clear();
    this.world.check("afterEvent", this);
  }

  /** A step after which the object may come to an end. */
  trouble(): void {
    const { rates, random, loop } = this.world;
    if (this.world.fault(rates.cacheDropped, "cache dropped")) loop.after(0, () => this.#dropCache());
    const ends = random.chance(rates.crash) ? "crash" : random.chance(rates.evict) ? "evict" : null;
    if (ends === null) return;
    const { life } = this;
    loop.after(random.pick([0, 0, 1, 2]), () => {
      if (this.life === life) this[ends]();
    });
  }

  /** What the cache does by itself when it is full: between two turns. */
  #dropCache(): void {
    const core = this.life?.core;
    if (core == null) return;
    this.world.note("cache is dropped", this.name, core.queue.segments.size);
    for (const id of core.queue.segments.keys()) core.cache.delete(id);
  }

  #running(): Life {
    if (this.life !== null) return this.life;
    const { world, disk } = this;
    this.lives += 1;
    world.note("queue starts", this.name, this.lives, disk.durableVersion);
    const life = new Life(
      this.lives,
      () => world.nowMs,
      (atMs) => {
        if (life.isAlive) this.ringer.set(atMs);
      },
      disk.alarmAtMs,
      this.registered !== null,
    );
    this.life = life;
    if (this.registered === null) this.load(life);
    else this.registered.open(life);
    return life;
  }

  /** Loads what is stored: the object can be called then. */
  load(life: Life): void {
    const { world, disk } = this;
    for (const id of disk.segmentRows.keys()) {
      this.#unchecked.set(id, restoreRow(disk, id, { atMs: world.nowMs, rules: this.rules }));
    }
    const ports: QueuePorts = portsOf(this, life, (error) => this.#broken(life, error));
    life.begin(this.name, world.bug?.wrapPorts?.(ports, this) ?? ports);
    if (life.core !== null) world.bug?.changeCore?.(life.core, this);
  }

  #broken(life: Life, error: unknown): void {
    if (!life.isAlive) return;
    this.world.faults["commit failed"] += 1;
    this.world.log.remark(`${this.name} is broken: ${error}`);
    const { disk } = this;
    this.#end(this.world.random.between(disk.durableVersion, disk.committedVersion), "queue breaks");
  }

  #end(version: number, how: "queue crashes" | "queue is evicted" | "queue breaks"): void {
    const { life, disk, world } = this;
    this.isTouched = true;
    const lost = disk.committedVersion - version;
    world.note(how, this.name, life?.number ?? 0, lost);
    this.life = null;
    this.#enter(disk.sync(version));
    this.disk = disk.end();
    this.#syncIsScheduled = false;
    this.#commits.clear();
    this.#unchecked.clear();
    life?.end();
    this.ringer.lifeEnded();
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
    const { sentMs: saidMs = null, offeredMs = null, publishedMs = null } = this.world.copies.get(tag) ?? {};
    const sentMs = saidMs ?? offeredMs ?? publishedMs;
    return sentMs === null ? null : { ...FROM_PRODUCER, sentMs };
  }

  #enter(versions: readonly Version[]): void {
    for (const { number } of versions) {
      const record = this.#commits.get(number);
      if (record === undefined) continue;
      this.#commits.delete(number);
      this.world.check("committed", this, this.ledger.enter(record));
    }
  }

  #committed(version: Version): void {
    const { world, disk, life } = this;
    const record = readCommit(disk, version, {
      ...{ atMs: world.nowMs, life: life?.number ?? 0 },
      ...{ queue: this.name, rules: this.rules, definition: this.definition },
      ...{
        visibleReceivesMax: this.#visibleReceivesMax,
        isThere: this.gone === null && this.registered?.isAbsent !== true,
      },
      registered: this.registered?.record ?? null,
      mayLapseFirst: this.movesAskedFor.size > 0,
      receiving: this.receives.waiting,
    });
    world.note("commit", this.name, version.number, record.segments.length);
    this.#commits.set(version.number, record);
    for (const { id, segment } of record.segments) this.#unchecked.set(id, segment);
  }
}
