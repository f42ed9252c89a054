import { HANDLER_WALL_CLOCK_MS_MAX, type ShardMap } from "@sluice/protocol";
import type { QueueRpc, ShardedQueues } from "@sluice/shards";
import { type HistoryOptions, type HistoryReport, noOutcomes, reportOf } from "../history/history.ts";
import { NO_FAULT_RATES } from "../world/faults.ts";
import { microtasksDone } from "../world/virtual-loop.ts";
import { partsOf } from "../world/world.ts";
import { newIsolate } from "./isolate.ts";
import { ShardAdministrator } from "./shard-administrator.ts";
import { ShardDirectory } from "./shard-directory.ts";
import { ShardObject } from "./shard-object.ts";
import { SHARD_PROPERTIES } from "./shard-properties.ts";
import { drawShardScenario } from "./shard-scenario.ts";
import { ShardSender } from "./shard-sender.ts";
import { ShardTaker } from "./shard-taker.ts";
import { ShardWorker } from "./shard-worker.ts";
import { ShardWorld } from "./shard-world.ts";

/** Isolates with maps of their own. */
const ISOLATES = 3;
const EVENTS_MAX = 100_000;
/** How long messages keep coming once nothing goes wrong any more, and how often, in ms. */
const STEADY_MS = 900_000;
const SHORT_MS = 60_000;
const STEADY_EVERY_MS = 20_000;
/** How long shard 0 counts a part as in use whose shard has ended, in ms. */
const LOST_PARTS_MS = HANDLER_WALL_CLOCK_MS_MAX + 120_000;
/** How long clients may still have what they got before, in ms. */
const SETTLED_MS = 60_000;
/** Longest that a shard with messages gives none to anybody then, in ms. */
const WAIT_MS_MAX = 240_000;
/**
 * The same for each shard of a queue whose clients ask: shards take turns of ten receives from each isolate, which come
 * every 30 s, and of which every other one may find that the second has had its messages.
 */
const TURN_MS_MAX = 600_000;
const DRAIN_MS = 10_800_000;
/** How long a shard is overloaded once nothing else goes wrong, in ms. */
const CALM_FAULT_MS = 300_000;

type Isolate = ShardedQueues<keyof QueueRpc>;

/** Runs the history of a seed whose queue has shards. */
export async function runShardHistory(seed: number, options: HistoryOptions = {}): Promise<HistoryReport> {
  const parts = partsOf(seed, options.verbose ?? false, options.bug ?? null);
  const watched = options.checkers?.map(({ property }) => property) ?? SHARD_PROPERTIES;
  const world = new ShardWorld(
    parts,
    drawShardScenario(parts.random),
    watched,
    (within, name) => new ShardObject(within, name),
  );
  const history = new ShardHistory(world);
  await history.run();
  world.note("the history ends", "");
  const { counts } = world.ledger;
  const epochs = [...world.objects.values()].reduce((sum, { epoch }) => sum + epoch, 0);
  return reportOf(seed, world, { ...noOutcomes(), ...counts, epochs });
}

class ShardHistory {
  readonly #world: ShardWorld;
  readonly #isolates: Isolate[];
  readonly #worker: ShardWorker;
  readonly #sender: ShardSender;
  readonly #directory: ShardDirectory;
  readonly #administrator: ShardAdministrator;

  constructor(world: ShardWorld) {
    this.#world = world;
    this.#worker = new ShardWorker(world);
    world.worker = this.#worker;
    this.#directory = new ShardDirectory(world);
    world.directory = this.#directory;
    this.#isolates = Array.from({ length: ISOLATES }, () => newIsolate(world));
    this.#sender = new ShardSender(world);
    this.#administrator = new ShardAdministrator(world, this.#directory, () => this.#isolate());
  }

  async run(): Promise<void> {
    const { world } = this;
    const { loop, scenario, random } = world;
    world.note("the history begins", "");
    world.log.remark(JSON.stringify(scenario));
    // The first queue is made without faults: with many of them nobody might ever hear that it is.
    const { rates } = world;
    world.rates = NO_FAULT_RATES;
    let hasBegun = false;
    void this.#administrator.restore(scenario.definition.shards ?? 1).then(() => {
      hasBegun = true;
    });
    await this.#until(() => hasBegun, DRAIN_MS);
    if (!scenario.isBusy) world.rates = rates;
    for (let i = 0; i < scenario.sends; i++)
      loop.after(random.below(scenario.troubleMs), () => void this.#sender.send(this.#isolate(), false));
    for (let i = 0; i < scenario.oldProducers; i++)
      loop.after(random.below(scenario.troubleMs), () => void this.#sender.send(null, false));
    for (let i = 0; i < scenario.lenderCrashes && scenario.taker !== "push"; i++)
      loop.after(random.below(scenario.troubleMs), () => world.object(scenario.queue).crash());
    this.#administrator.start();
    this.#startTakers();
    let isCalm = false;
    loop.after(scenario.troubleMs, () => {
      isCalm = true;
    });
    await this.#until(() => isCalm, DRAIN_MS);
    await this.#calm();
  }

  get world(): ShardWorld {
    return this.#world;
  }

  /** An isolate; a new one has no map, and an old one may have an old map. */
  #isolate(): Isolate {
    const { random } = this.#world;
    const i = random.below(ISOLATES);
    if (this.#world.isTroubled && random.chance(0.1)) this.#isolates[i] = newIsolate(this.#world);
    return this.#isolates[i] as Isolate; // one of them
  }

  #startTakers(): void {
    const { scenario } = this.#world;
    const everyMs = Math.ceil(scenario.troubleMs / 10);
    const isolate = () => this.#isolate();
    if (scenario.taker !== "push")
      for (let i = 0; i < 2; i++)
        new ShardTaker(this.#world, isolate, scenario.queue, scenario.taker).start(everyMs);
    new ShardTaker(this.#world, isolate, scenario.dead, "receive").start(2 * everyMs);
  }

  /** Nothing goes wrong any more: messages keep coming for a while, then all has to be handled. */
  async #calm(): Promise<void> {
    const { world } = this;
    const { scenario, random, ledger, loop, objects } = world;
    if (world.violation !== null) return;
    world.calmDown();
    this.#directory.disk.failWrites(Infinity, 0);
    for (const object of objects.values()) {
      object.disk.failWrites(Infinity, 0);
      object.overloadedUntilMs = 0;
      object.awayUntilMs = 0;
    }
    let isRestored = false;
    void this.#administrator.restore(scenario.finalShards).then(() => {
      isRestored = true;
    });
    const areSynced = () => [...objects.values()].every(({ disk }) => disk.isSynced);
    const isIdle = () => world.travelling === 0 && this.#worker.isIdle && areSynced();
    await this.#until(() => isRestored && isIdle(), DRAIN_MS);
    // The time passes at once in which shards that have no part would ask for one twice a second.
    loop.jump(LOST_PARTS_MS);
    loop.after(SETTLED_MS, () => {
      world.isRestored = true;
    });
    await this.#until(() => world.isRestored, DRAIN_MS);
    const beganMs = loop.nowMs;
    if (scenario.calmFault === "overloaded" && scenario.finalShards > 1) {
      const name = `${scenario.queue}#${random.between(1, scenario.finalShards - 1)}`;
      world.note("shard is overloaded", name, CALM_FAULT_MS);
      world.object(name).overloadedUntilMs = world.nowMs + CALM_FAULT_MS;
    }
    if (!scenario.isFifo) void this.#sender.send(null, true);
    const steadyMs = scenario.isSteady ? STEADY_MS : SHORT_MS;
    const steady = () => {
      if (world.violation !== null || loop.nowMs > beganMs + steadyMs) return;
      void this.#sender.send(this.#isolate(), true);
      loop.after(STEADY_EVERY_MS, steady);
      this.#checkWaits(beganMs + CALM_FAULT_MS);
    };
    steady();
    const isOver = () =>
      loop.nowMs > beganMs + steadyMs + STEADY_EVERY_MS &&
      this.#sender.underWay +
        this.#administrator.underWay +
        world.travelling +
        ledger.live +
        ledger.underWay ===
        0 &&
      this.#directory.isDone &&
      areSynced();
    await this.#until(isOver, DRAIN_MS);
    if (world.violation !== null) return;
    ledger.checkThrottle();
    this.#checkMap();
    await this.#count();
  }

  /** No shard with messages waits for long. One of its messages may, where more come than are taken. */
  #checkWaits(fromMs: number): void {
    const { world } = this;
    const { ledger, nowMs, scenario } = world;
    const groups = new Map<string, number>();
    const live = [...ledger.liveIn(scenario.queue)];
    for (const { group, position } of live)
      groups.set(group, Math.min(position, groups.get(group) ?? Infinity));
    const shards = new Set(live.map(({ object }) => object)).size;
    const mostMs = scenario.taker === "push" ? WAIT_MS_MAX : shards * TURN_MS_MAX;
    for (const { view, tag, object, sinceMs, group, position } of live) {
      if (view.status !== "waiting" || view.atMs > nowMs) continue;
      if (scenario.isFifo && groups.get(group) !== position) continue;
      const waitsMs = nowMs - Math.max(fromMs, sinceMs, view.atMs, ledger.servedMs.get(object) ?? 0);
      if (waitsMs > mostMs)
        world.violates(
          "no shard starves",
          object,
          `message ${tag} waits, and none was served for ${waitsMs} ms`,
        );
    }
  }

  /** There are the shards that are wanted, and no others. */
  #checkMap(): void {
    const { queue, finalShards } = this.#world.scenario;
    const row = this.#directory.durableRows.get(queue);
    const map: Partial<ShardMap> = (row?.kind === "queue" ? row.record.shards : undefined) ?? {
      open: 1,
      kept: 1,
    };
    if (map.open !== finalShards || map.kept !== finalShards || map.before !== undefined)
      this.#world.violates(
        "drained shards",
        queue,
        `it has the map ${JSON.stringify(map)}, not ${finalShards} shards`,
      );
    for (const [name, { kind }] of this.#directory.durableRows)
      if (kind === "queue" && name.startsWith(`${queue}#`) && Number(name.split("#")[1]) >= finalShards)
        this.#world.violates("drained shards", name, "its row is still there");
  }

  /** Counts equal the sum over all shards where nothing moves. */
  async #count(): Promise<void> {
    const { world } = this;
    const { scenario, ledger } = world;
    world.isDrained = true;
    for (const object of world.objects.values()) object.overloadedUntilMs = 0;
    let counted: readonly number[] | null = null;
    const count = async () => {
      // Receives that wait may still get something.
      await world.loop.sleep(60_000);
      if (scenario.taker === "push") await this.#administrator.pause();
      for (let i = 0; i < 6; i++) await this.#sender.send(this.#isolates[i % ISOLATES] ?? null, true);
      const queue = newIsolate(world).of(scenario.queue);
      const { backlogCount } = await queue.metrics(scenario.queue);
      const { visible, notVisible, delayed } = await queue.messageCounts(scenario.queue);
      counted = [backlogCount, visible + notVisible + delayed];
    };
    void count();
    await this.#until(() => counted !== null, DRAIN_MS);
    const there = [...ledger.liveIn(scenario.queue)].length;
    for (const number of counted ?? [])
      if (number !== there) world.violates("counts of all shards", scenario.queue, `${number}, not ${there}`);
  }

  /** Takes events until something is so. */
  async #until(isSo: () => boolean, forMs: number): Promise<void> {
    const { world } = this;
    const { loop, ledger } = world;
    const deadlineMs = loop.nowMs + forMs;
    await microtasksDone();
    while (world.violation === null && !isSo()) {
      const run = loop.next();
      if (run === undefined || loop.nowMs > deadlineMs || loop.events > EVENTS_MAX) {
        const text = `${ledger.live} messages are there, ${ledger.underWay} under way, ${world.travelling} calls`;
        const why = run === undefined ? "nothing will ever happen any more" : "it does not come to an end";
        return world.violates("liveness of shards", world.scenario.queue, `${why}; ${text}`);
      }
      run();
      await microtasksDone();
      await world.settled();
    }
  }
}
