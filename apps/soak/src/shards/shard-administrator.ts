import {
  type DirectoryReply,
  type QueueDefinition,
  type QueueRecord,
  type QueueSettingsChange,
  shardOf,
} from "@sluice/protocol";
import type { QueueRpc, ShardedQueues } from "@sluice/shards";
import type { ShardDirectory } from "./shard-directory.ts";
import type { PurgeCall } from "./shard-message.ts";
import type { ShardWorld } from "./shard-world.ts";

const RETRY_MS = 1_000;
/** Longest time that the directory's answer to a change waits for the objects, in ms. */
const NOTIFY_MS_MAX = 5_000;

/** Changes the number of shards, deletes, purges, pauses and redrives, and makes objects fail. */
export class ShardAdministrator {
  /** Calls that are not answered. */
  underWay = 0;
  readonly #world: ShardWorld;
  readonly #directory: ShardDirectory;
  readonly #isolate: () => ShardedQueues<keyof QueueRpc>;
  #before: Promise<unknown> = Promise.resolve();
  #tasks = 0;

  constructor(world: ShardWorld, directory: ShardDirectory, isolate: () => ShardedQueues<keyof QueueRpc>) {
    this.#world = world;
    this.#directory = directory;
    this.#isolate = isolate;
  }

  /** Schedules its actions. */
  start(): void {
    const { random, loop, scenario } = this.#world;
    const acts = [
      () => this.#resize(),
      () => this.#resize(),
      () => this.#resizeTwice(),
      () => this.#recreate(),
      () => this.#purge(),
      () => this.#pause(),
      () => this.#redrive(),
      () => this.#redrive(),
    ];
    for (let i = 0; i < scenario.administrations; i++) {
      const act = acts[random.below(acts.length)];
      if (act !== undefined) loop.after(random.below(scenario.troubleMs), () => this.#next(act));
      if (random.chance(0.3)) loop.after(random.below(scenario.troubleMs), () => this.#sendAway());
    }
  }

  /** Makes the queue exist, deliver, and have this number of shards. */
  async restore(shards: number): Promise<void> {
    await this.#next(async () => {
      const { scenario } = this.#world;
      await this.#ensure(scenario.dead, scenario.deadDefinition, {});
      await this.#ensure(
        scenario.queue,
        { ...scenario.definition, shards },
        { shards, deliveryPaused: false },
      );
    });
  }

  /** Pauses delivery. Resolves when the directory has confirmed it. */
  async pause(): Promise<void> {
    await this.#next(async () => {
      const settings = { deliveryPaused: true };
      while (!(await this.#change(this.#world.scenario.queue, settings)))
        await this.#world.loop.sleep(RETRY_MS);
    });
  }

  /** Runs actions one after the other, in the order of the calls. */
  async #next(act: () => Promise<unknown>): Promise<void> {
    this.underWay += 1;
    const done = this.#before.then(act).catch((error: unknown) => {
      this.#world.log.remark(`administrator: ${String(error)}`);
    });
    this.#before = done;
    await done;
    this.underWay -= 1;
  }

  async #ensure(name: string, definition: QueueDefinition, settings: QueueSettingsChange): Promise<void> {
    for (;;) {
      const isDone = await this.#find(name)
        .then((known) => {
          if (known === null) return this.#create(name, definition);
          return isLike(known.definition, definition) && this.#change(name, settings);
        })
        .catch(() => false);
      if (isDone) break;
      // A queue that a transfer has created meanwhile may be of another kind.
      const other = await this.#find(name).catch(() => null);
      if (other !== null) await this.#directory.change("deleteQueue", [other.queueId]).catch(() => {});
      await this.#world.loop.sleep(RETRY_MS);
    }
    for (const pause of this.#world.ledger.pauses)
      pause.toEvent = Math.min(pause.toEvent, this.#world.loop.events);
  }

  #find(name: string): Promise<QueueRecord | null> {
    return this.#directory.ask("findByName", name);
  }

  async #create(name: string, { consumer, producers: _, ...settings }: QueueDefinition): Promise<boolean> {
    const reply = await this.#directory.change<DirectoryReply>("createQueue", [{ name, settings, consumer }]);
    this.#world.note("queue is created", name);
    return reply.ok;
  }

  async #change(name: string, settings: QueueSettingsChange): Promise<boolean> {
    const { ledger, loop } = this.#world;
    const known = await this.#find(name);
    if (known === null) return false;
    if (settings.deliveryPaused === false)
      for (const pause of ledger.pauses) pause.toEvent = Math.min(pause.toEvent, loop.events);
    this.#world.note("a number of shards is asked for", name, settings.shards);
    let arrivedMs = 0;
    const reply = await this.#directory.change<DirectoryReply>(
      "changeQueue",
      [known.queueId, { settings }],
      () => {
        arrivedMs = this.#world.nowMs;
      },
    );
    // The directory may answer before every object has confirmed the change: it repeats calls that fail.
    const isConfirmed = [...this.#directory.durableRows].every(
      ([object, row]) =>
        shardOf(object).queue !== name || row.kind !== "queue" || row.told >= row.record.revision,
    );
    const isHeard = isConfirmed && this.#world.nowMs < arrivedMs + NOTIFY_MS_MAX;
    if (reply.ok && settings.deliveryPaused === true && isHeard)
      ledger.pauses.push({ queue: name, fromEvent: loop.events, toEvent: Infinity });
    return reply.ok;
  }

  #resize(): Promise<boolean> {
    const { random, scenario, faults } = this.#world;
    faults["queue changed by the API"] += 1;
    return this.#change(scenario.queue, { shards: random.between(1, 8) });
  }

  async #resizeTwice(): Promise<void> {
    const { random, scenario } = this.#world;
    await this.#change(scenario.queue, { shards: random.between(4, 8) });
    await this.#change(scenario.queue, { shards: random.between(2, 4) });
    await this.#change(scenario.queue, { shards: 1 });
  }

  async #recreate(): Promise<void> {
    const { random, scenario, loop, ledger, faults } = this.#world;
    const known = await this.#find(scenario.queue);
    if (known === null) return;
    for (const pause of ledger.pauses) pause.toEvent = Math.min(pause.toEvent, loop.events);
    faults["queue deleted by the API"] += 1;
    this.#world.note("queue is deleted", scenario.queue);
    await this.#directory.change("deleteQueue", [known.queueId]);
    await loop.sleep(random.pick([0, 10, 2_000]));
    faults["queue created again by the API"] += 1;
    await this.#create(scenario.queue, { ...scenario.definition, shards: random.between(1, 8) });
  }

  async #purge(): Promise<void> {
    const { ledger, loop, scenario } = this.#world;
    const purge: PurgeCall = {
      queue: scenario.queue,
      event: loop.events,
      objects: new Set(),
      endEvent: null,
    };
    ledger.purges.push(purge);
    this.#world.note("purge is asked for", scenario.queue);
    try {
      const { purged } = await this.#isolate().of(scenario.queue).purge(scenario.queue);
      this.#world.note("purge is answered", scenario.queue, purged);
      ledger.purged(purge);
    } finally {
      purge.endEvent = loop.events;
    }
  }

  async #pause(): Promise<void> {
    const { random, loop, scenario, faults } = this.#world;
    faults["delivery paused"] += 1;
    await this.#change(scenario.queue, { deliveryPaused: true });
    loop.after(random.pick([100, 5_000, 60_000]), () => {
      void this.#next(() => this.#change(scenario.queue, { deliveryPaused: false }));
    });
  }

  #redrive(): Promise<unknown> {
    const { scenario, faults } = this.#world;
    faults["move task begun"] += 1;
    this.#tasks += 1;
    const move = { taskId: `move ${this.#tasks}`, target: scenario.queue, ratePerSecond: null };
    return this.#isolate().of(scenario.dead).startMove(scenario.dead, move);
  }

  /** Makes an object refuse calls, be out of reach, find its disk full, or end. */
  #sendAway(): void {
    const { random, objects, nowMs } = this.#world;
    const all = [...objects.values()];
    const object = random.chance(0.4)
      ? this.#world.object(this.#world.scenario.queue)
      : all[random.below(all.length)];
    if (object === undefined) return;
    const ms = random.pick([100, 10_000, 120_000]);
    switch (random.below(4)) {
      case 0:
        this.#world.note("shard is overloaded", object.name, ms);
        object.overloadedUntilMs = nowMs + ms;
        return;
      case 1:
        this.#world.note("shard is away", object.name, ms);
        object.awayUntilMs = nowMs + ms;
        return;
      case 2:
        this.#world.note("writes will fail", object.name, 0, 20);
        object.disk.failWrites(random.below(4), random.pick([1, 20]));
        return;
      default:
        object.crash();
    }
  }
}

/** Whether a queue has the wanted kind of consumer: one that a transfer has created has none. */
function isLike(known: QueueDefinition, wanted: QueueDefinition): boolean {
  return (
    known.consumer?.type === wanted.consumer?.type &&
    (known.receive === undefined) === (wanted.receive === undefined)
  );
}
