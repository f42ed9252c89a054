import { type BrokerEnv, createQueueBroker, type Instruments } from "@sluice/broker";
import { type QueueCore, type Registration, rulesOf } from "@sluice/broker/testing";
import type { ObjectState } from "@sluice/objects/parts";
import { type Delivery, deliveryReply, lastEndText, type QueueRecord, UNPLANNED } from "@sluice/protocol";
import { DIRECTORY_METHODS, NOWHERE, namespaceOf } from "../platform/bindings.ts";
import { StoredRows } from "../platform/commits.ts";
import type { SimulatedStorage, Version } from "../platform/disk.ts";
import { exchange } from "../platform/network.ts";
import { RecordedStore, type Written } from "../platform/recorded-store.ts";
import { type End, SimulatedObject } from "../platform/simulated-object.ts";
import { callBetweenObjects } from "./object-calls.ts";
import type { ShardCommit } from "./shard-commit.ts";
import { ORDERS } from "./shard-scenario.ts";
import type { CalledShard, ShardWorld } from "./shard-world.ts";

type Note = ShardCommit | { readonly kind: "drop" };

/** The object of a shard: the broker's own class on the simulated host. */
export class ShardObject extends SimulatedObject implements CalledShard {
  readonly #world: ShardWorld;
  readonly rows = new StoredRows(this.disk);
  core: QueueCore | null = null;
  registration: Registration | null = null;
  epoch = 0;
  isAlive = false;
  /** Time until which calls fail as too many, in ms. */
  overloadedUntilMs = 0;
  /** Time until which calls fail since the object is out of reach, in ms. */
  awayUntilMs = 0;
  #pausedEvent = 0;

  constructor(world: ShardWorld, name: string) {
    super(world, name);
    this.#world = world;
  }

  get record(): QueueRecord | null {
    return this.registration?.record ?? null;
  }

  /** Records whether delivery is paused now. Returns the last event in which it was recorded as paused. */
  notePaused(): number {
    if (this.record?.definition.deliveryPaused === true) this.#pausedEvent = this.#world.loop.events;
    return this.#pausedEvent;
  }

  override call<Answer>(method: string, ...args: readonly unknown[]): Promise<Answer> {
    const { nowMs } = this.#world;
    if (nowMs < this.overloadedUntilMs) {
      const isMute = this.#world.bug?.shards === "neverMovesOn";
      const error = Object.assign(new Error("Durable Object is overloaded."), { overloaded: !isMute });
      return Promise.reject(error);
    }
    if (nowMs < this.awayUntilMs) return Promise.reject(new Error("Network connection lost."));
    return super.call(method, ...args);
  }

  crash(): void {
    const { disk } = this;
    if (!this.isAlive) return;
    const version = this.#world.random.between(disk.durableVersion, disk.committedVersion);
    const isLoss = version < disk.committedVersion;
    this.#world.faults[isLoss ? "crash before the commit is durable" : "crash with everything durable"] += 1;
    this.end({ how: "crashes", version });
  }

  trouble(): void {
    const { rates, random, loop, faults } = this.#world;
    const crashes = random.chance(rates.crash);
    const isEvicted = !crashes && random.chance(rates.evict);
    if (!crashes && !isEvicted) return;
    const { epoch } = this;
    loop.after(random.pick([0, 0, 1, 2]), () => {
      if (this.epoch !== epoch || !this.isAlive) return;
      if (crashes) return this.crash();
      faults.eviction += 1;
      this.end({ how: "is evicted", version: this.disk.committedVersion });
    });
  }

  protected override started(): void {
    this.epoch += 1;
    this.isAlive = true;
    this.#world.note("queue starts", this.name, this.epoch, this.disk.durableVersion);
    this.#world.log.remark(`starts ${this.name}`);
  }

  protected override ended(how: End["how"], lost: number): void {
    this.#world.note(`queue ${how}`, this.name, this.epoch, lost);
    this.isAlive = false;
    this.notePaused();
    this.core = null;
    this.registration = null;
  }

  protected override synced(versions: readonly Version[]): void {
    for (const note of versions.flatMap(({ notes }) => notes as Note[])) {
      if (note.kind === "drop") this.#world.ledger.dropped(this.name);
      else this.#world.ledger.committed(this.name, note);
    }
  }

  protected override construct(state: ObjectState, storage: SimulatedStorage): object {
    const world = this.#world;
    const { worker, bug } = world;
    storage.gateIsOpen = bug?.gateIsOpen === true;
    const leave = <Answer>(start: () => Promise<Answer>) => this.leave(storage, start);
    const epoch = this.epoch;
    const ask =
      (method: string) =>
      (...args: readonly unknown[]) =>
        leave(() => world.directory?.ask(method, ...args) ?? Promise.reject(new Error("no directory")));
    const env = {
      SLUICE_QUEUES: namespaceOf((target) =>
        Object.fromEntries(
          ["take", "lendPart", "partOf"].map((method) => [
            method,
            (...args: readonly unknown[]) =>
              leave(() => callBetweenObjects(world, this.name, target, method, args)),
          ]),
        ),
      ),
      SLUICE_DIRECTORY: namespaceOf(() =>
        Object.fromEntries(DIRECTORY_METHODS.map((method) => [method, ask(method)])),
      ),
      ...(worker && {
        CONSUMER: {
          deliver: (delivery: Delivery) =>
            leave(async () => deliveryReply(await worker.deliver(this, epoch, delivery))),
          callsOf: () => leave(() => exchange(world, async () => null)),
          ping: () => leave(() => exchange(world, async () => "pong")),
        },
      }),
      SLUICE_ENV: epoch % 2 === 0 ? "local" : undefined,
      SLUICE_LAST_END: lastEndText(UNPLANNED),
    };
    const QueueClass = createQueueBroker(
      {
        topology: { queues: {} },
        consumers: { [ORDERS]: "CONSUMER" },
        hostOf: ((ctx: ObjectState, bindings: object) => this.hostOf(ctx, storage, bindings)) as never,
        instruments: this.#instruments(),
      },
      NOWHERE,
    );
    return new QueueClass(state as never, env as unknown as BrokerEnv);
  }

  #instruments(): Instruments {
    const world = this.#world;
    const cutOffDelayMs = world.random.pick([0, 0, 1, 4_000]);
    return {
      openStore: (_name, storage, watchers) => {
        const store = new RecordedStore(storage, watchers, this.disk, {
          committed: (written) => this.#committed(written),
          dropped: () => {
            this.core = null;
            this.disk.current.notes.push({ kind: "drop" } satisfies Note);
          },
        });
        if (world.bug?.shards === "keepsDeleted") store.drop = () => {};
        if (world.bug?.shards === "forgetsTheMap" && !this.name.includes("#")) {
          const write = store.writeRecord.bind(store);
          store.writeRecord = ({ shards: _, ...record }: QueueRecord) => write(record);
        }
        return store;
      },
      ports: (_name, ports, registration) => {
        this.registration = registration;
        const set = registration.set.bind(registration);
        registration.set = (record) => {
          this.notePaused();
          set(record);
        };
        return { ...ports, cutOffDelayMs, newMessageId: () => world.newMessageId() };
      },
      begun: (core) => {
        this.core = core;
      },
    };
  }

  #committed(written: Written): void {
    const world = this.#world;
    const { current } = this.disk;
    const moment = { atMs: world.nowMs, rules: rulesOf(this.registration?.definition) };
    const segments = [...written.segments].map(([id, { hasPayload }]) => {
      const { segment, payload } = this.rows.segment(id, moment);
      world.ledger.touched(this.name, id);
      return { id, segment, payload: hasPayload ? payload : null };
    });
    const { outboxIn, outboxOut } = written;
    const event = world.loop.events;
    current.notes.push({
      kind: "commit",
      event,
      atMs: world.nowMs,
      revision: this.record?.revision ?? null,
      segments,
      outboxIn,
      outboxOut,
    } satisfies Note);
    world.note("commit", this.name, current.number, segments.length);
  }
}
