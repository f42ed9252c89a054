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

/** Isolates that send and receive. Each keeps a shard map of its own. */
const ISOLATES = 3;
/** Most events of a history. One with more does not come to an end. */
const EVENTS_MAX = 100_000;
/** Longest time that a phase may take, in virtual ms. */
const PHASE_MS_MAX = 10_800_000;
/** Time for which messages keep coming in the calm phase of a history that does not look for starving shards, in ms. */
const CALM_SENDS_MS = 60_000;
/** The same of a history that does, if a Worker takes the messages, in ms. */
const CALM_SENDS_OF_PUSH_MS = 900_000;
/** Time between two sends of the calm phase, in ms. */
const CALM_SEND_EVERY_MS = 20_000;
/** Longest time that shard 0 counts a lent part of a limit as in use after its shard has ended, in ms. */
const LOST_PARTS_MS = HANDLER_WALL_CLOCK_MS_MAX + 120_000;
/** Longest time that clients keep messages that they received before the calm phase, in ms. */
const SETTLED_MS = 60_000;
/** Longest time that a shard with due messages may serve none in the calm phase if a Worker takes them, in ms. */
const WAIT_MS_MAX = 240_000;
/**
 * The same for each shard of a queue with clients, in ms. An isolate calls the shards in turns of ten receives. Two
 * clients that receive about every 20 s share three isolates, so each isolate receives every 30 s. Every other receive
 * may be empty, because the other client was first.
 */
const TURN_MS_MAX = 600_000;
/** Time for which a shard is overloaded in the calm phase, in ms. */
const CALM_FAULT_MS = 300_000;

type Isolate = ShardedQueues<keyof QueueRpc>;

/** Runs the history of a seed, of a queue with shards. */
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
    const world = this.#world;
    const { loop, scenario, random } = world;
    world.note("the history begins", "");
    world.log.remark(JSON.stringify(scenario));
    // The queue is made without faults. With many of them no caller might ever learn that it exists.
    const { rates } = world;
    world.rates = NO_FAULT_RATES;
    let hasBegun = false;
    void this.#administrator.restore(scenario.definition.shards ?? 1).then(() => {
      hasBegun = true;
    });
    await this.#until(() => hasBegun, PHASE_MS_MAX);
    // In a busy history hardly anything else goes wrong, so that limits are in use when shard 0 crashes.
    if (!scenario.isBusy) world.rates = rates;
    for (let i = 0; i < scenario.sends; i++)
      loop.after(random.below(scenario.troubleMs), () => void this.#sender.send(this.#isolate(), false));
    for (let i = 0; i < scenario.oldProducers; i++)
      loop.after(random.below(scenario.troubleMs), () => void this.#sender.send(null, false));
    // With a Worker, ShardWorker crashes shard 0 while all that it can lend is in use.
    const crashes = scenario.taker === "push" ? 0 : scenario.lenderCrashes;
    for (let i = 0; i < crashes; i++)
      loop.after(random.below(scenario.troubleMs), () => world.object(scenario.queue).crash());
    this.#administrator.start();
    this.#startTakers();
    let isCalm = false;
    loop.after(scenario.troubleMs, () => {
      isCalm = true;
    });
    await this.#until(() => isCalm, PHASE_MS_MAX);
    await this.#calm();
  }

  /** Picks an isolate, and in trouble sometimes puts a new one in its place, which has no map yet. */
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

  /** The calm phase: ends all faults, sends for a while, and then requires that every message is handled. */
  async #calm(): Promise<void> {
    const world = this.#world;
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
    const isQuiet = () => world.travelling === 0 && this.#worker.isIdle && areSynced();
    await this.#until(() => isRestored && isQuiet(), PHASE_MS_MAX);
    // Until lost parts no longer count, shards without a part would only call shard 0 every 500 ms.
    loop.jump(LOST_PARTS_MS);
    loop.after(SETTLED_MS, () => {
      world.isRestored = true;
    });
    await this.#until(() => world.isRestored, PHASE_MS_MAX);
    const beganMs = loop.nowMs;
    if (scenario.calmFault === "overloaded" && scenario.finalShards > 1) {
      const name = `${scenario.queue}#${random.between(1, scenario.finalShards - 1)}`;
      world.note("shard is overloaded", name, CALM_FAULT_MS);
      world.object(name).overloadedUntilMs = world.nowMs + CALM_FAULT_MS;
    }
    if (!scenario.isFifo) void this.#sender.send(null, true);
    const sendsMs = this.#calmSendsMs();
    const send = () => {
      if (world.violation !== null || loop.nowMs > beganMs + sendsMs) return;
      void this.#sender.send(this.#isolate(), true);
      loop.after(CALM_SEND_EVERY_MS, send);
      this.#checkWaits(beganMs + CALM_FAULT_MS);
    };
    send();
    const underWay = () => [
      this.#sender.underWay,
      this.#administrator.underWay,
      world.travelling,
      ledger.live,
      ledger.underWay,
    ];
    const isOver = () =>
      loop.nowMs > beganMs + sendsMs + CALM_SEND_EVERY_MS &&
      underWay().every((count) => count === 0) &&
      this.#directory.isDone &&
      areSynced();
    await this.#until(isOver, PHASE_MS_MAX);
    if (world.violation !== null) return;
    ledger.checkThrottle();
    this.#checkMap();
    await this.#count();
  }

  /** Time for which messages keep coming in the calm phase, in ms: if steady, until a starving shard is noticed. */
  #calmSendsMs(): number {
    const { isSteady, taker, finalShards } = this.#world.scenario;
    if (!isSteady) return CALM_SENDS_MS;
    return taker === "push"
      ? CALM_SENDS_OF_PUSH_MS
      : CALM_FAULT_MS + finalShards * TURN_MS_MAX + 3 * CALM_SEND_EVERY_MS;
  }

  /** Checks that each shard with due messages serves some. One message may wait long if more come than are taken. */
  #checkWaits(fromMs: number): void {
    const world = this.#world;
    const { ledger, nowMs, scenario } = world;
    // Position of the first message of each group.
    const heads = new Map<string, number>();
    const live = [...ledger.liveIn(scenario.queue)];
    for (const { group, position } of live)
      heads.set(group, Math.min(position, heads.get(group) ?? Infinity));
    const shards = new Set(live.map(({ object }) => object)).size;
    const mostMs = scenario.taker === "push" ? WAIT_MS_MAX : shards * TURN_MS_MAX;
    for (const { view, tag, object, sinceMs, group, position } of live) {
      if (view.status !== "waiting" || view.atMs > nowMs) continue;
      if (scenario.isFifo && heads.get(group) !== position) continue;
      const waitsMs = nowMs - Math.max(fromMs, sinceMs, view.atMs, ledger.servedMs.get(object) ?? 0);
      if (waitsMs > mostMs)
        world.violates(
          "no shard starves",
          object,
          `message ${tag} waits, and none was served for ${waitsMs} ms`,
        );
    }
  }

  /** Checks that the map and the rows of the directory have the shards that are wanted, and no others. */
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

  /** Checks that metrics and counts equal the number of messages once nothing moves. */
  async #count(): Promise<void> {
    const world = this.#world;
    const { scenario, ledger } = world;
    world.isDrained = true;
    for (const object of world.objects.values()) object.overloadedUntilMs = 0;
    let counted: readonly number[] | null = null;
    const count = async () => {
      // Long polls that are open may still receive.
      await world.loop.sleep(60_000);
      if (scenario.taker === "push") await this.#administrator.pause();
      for (let i = 0; i < 6; i++) await this.#sender.send(this.#isolates[i % ISOLATES] ?? null, true);
      const queue = newIsolate(world).of(scenario.queue);
      const { backlogCount } = await queue.metrics(scenario.queue);
      const { visible, notVisible, delayed } = await queue.messageCounts(scenario.queue);
      counted = [backlogCount, visible + notVisible + delayed];
    };
    void count().catch((error: unknown) =>
      world.violates("counts of all shards", scenario.queue, `they cannot be asked for: ${error}`),
    );
    await this.#until(() => counted !== null, PHASE_MS_MAX);
    const there = [...ledger.liveIn(scenario.queue)].length;
    for (const number of counted ?? [])
      if (number !== there) world.violates("counts of all shards", scenario.queue, `${number}, not ${there}`);
  }

  /** Runs events until a condition holds. A violation if it does not hold within `withinMs` of virtual time. */
  async #until(isMet: () => boolean, withinMs: number): Promise<void> {
    const world = this.#world;
    const { loop, ledger } = world;
    const deadlineMs = loop.nowMs + withinMs;
    await microtasksDone();
    while (world.violation === null && !isMet()) {
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
