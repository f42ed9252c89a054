import { type Delivery, type DeliveryResult, NO_CALLS, PackedIndex, shardOf } from "@sluice/protocol";
import { tagsOf } from "../ledger/tags.ts";
import { exchange } from "../platform/network.ts";
import type { CalledShard, ShardWorld } from "./shard-world.ts";

/** The Worker that all shards of a queue call. It checks how many of its handlers run at a time. */
export class ShardWorker {
  readonly #world: ShardWorld;
  /** Deliveries whose handlers run, each with the object that made it and the queue of that (see `Deletions`). */
  readonly #running = new Map<
    string,
    { readonly object: CalledShard; readonly epoch: number; readonly asOf: number }
  >();

  /** Crashes of shard 0 that are left. */
  #lenderCrashes: number;

  constructor(world: ShardWorld) {
    this.#world = world;
    this.#lenderCrashes = world.scenario.taker === "push" ? world.scenario.lenderCrashes : 0;
  }

  /** Whether no handler runs. */
  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  deliver(object: CalledShard, epoch: number, delivery: Delivery): Promise<DeliveryResult> {
    return exchange(this.#world, () => this.#handle(object, epoch, delivery), false);
  }

  async #handle(object: CalledShard, epoch: number, delivery: Delivery): Promise<DeliveryResult> {
    const { random, loop, isTroubled, scenario, ledger } = this.#world;
    const tags = tagsOf(delivery.packed);
    const key = `${object.name} ${delivery.id}`;
    this.#world.note("batch arrives at its consumer", object.name, tags[0]);
    const asOf = ledger.deletions.asOf(scenario.queue, object.record?.revision ?? 0);
    this.#running.set(key, { object, epoch, asOf });
    this.#checkConcurrency(object);
    await loop.sleep(random.pick(isTroubled ? [0, 3, 200, 4_000, 20_000] : [0, 3, 200, 1_000]));
    this.#running.delete(key);
    const roll = isTroubled && scenario.throws ? random.below(8) : 7;
    const nothing = { outcome: "ok", ...NO_CALLS };
    if (roll === 0) throw new Error("The handler's isolate was taken away.");
    if (roll === 1) return { ...nothing, outcome: "exception" };
    const index = new PackedIndex(delivery.packed);
    const retried =
      roll < 5 ? tags.flatMap((tag, i) => (random.chance(0.4) ? [{ tag, id: index.id(i) }] : [])) : [];
    for (const tag of tags) if (!retried.some((one) => one.tag === tag)) ledger.settled.add(tag);
    const delaySeconds = random.pick([0, 5, 60, 300]);
    return { ...nothing, retryMessages: retried.map(({ id }) => ({ msgId: id, delaySeconds })) };
  }

  #checkConcurrency({ name }: CalledShard): void {
    const { consumer } = this.#world.scenario.definition;
    const limit = consumer?.type === "worker" ? consumer.settings.maxConcurrency : null;
    const { queue } = shardOf(name);
    if (limit === null || queue !== this.#world.scenario.queue) return;
    const asOf = this.#world.ledger.deletions.latest(queue);
    // Deliveries of an object that has ended do not count, since its handlers may be gone; nor do those of a deleted
    // queue.
    const awaited = [...this.#running.values()].filter(
      ({ object, epoch, ...of }) => object.isAlive && object.epoch === epoch && of.asOf === asOf,
    );
    if (awaited.length > limit)
      this.#world.violates("concurrency over shards", name, `${awaited.length} deliveries run, not ${limit}`);
    const isLent = awaited.some(({ object }) => object.name !== queue);
    if (awaited.length === limit && isLent) this.#endLender(queue);
  }

  /** Crashes shard 0 while everything that it can lend is in use. */
  #endLender(queue: string): void {
    const { random, loop, isTroubled } = this.#world;
    if (!isTroubled || this.#lenderCrashes === 0) return;
    this.#lenderCrashes -= 1;
    loop.after(random.pick([0, 20, 500]), () => this.#world.object(queue).crash());
  }
}
