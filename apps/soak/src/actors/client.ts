import type { QueueCore } from "@sluice/broker/testing";
import type { Simulation } from "../checkers/simulation.ts";
import type { DeliveryRecord } from "../ledger/delivery-record.ts";
import { exchange } from "../platform/network.ts";
import type { QueueObject } from "../platform/queue-object.ts";

/** Time between two polls once the trouble is over, in ms. */
const CALM_POLL_MS = 20_000;

/** A client that asks a queue for messages, again and again until everything has drained. */
export abstract class Client {
  protected readonly world: Simulation;
  protected readonly queue: QueueObject;

  constructor(world: Simulation, queue: QueueObject) {
    this.world = world;
    this.queue = queue;
  }

  /** Polls now and until everything has drained: while there is trouble every `everyMs` on average. */
  start(everyMs: number): void {
    const { loop, random, isTroubled, isDrained } = this.world;
    if (isDrained) return;
    this.poll();
    const waitMs = isTroubled ? random.below(2 * everyMs) : CALM_POLL_MS;
    loop.after(waitMs, () => this.start(everyMs));
  }

  protected abstract poll(): void;

  /**
   * Uses the receipts of received messages: late, twice or never while there is trouble.
   *
   * @param decide draws what becomes of the messages; a second use may draw again.
   */
  protected useReceipts<Uses>(
    latesMs: readonly [number, ...number[]],
    decide: () => Uses,
    use: (uses: Uses) => void,
  ): void {
    const { random, loop, isTroubled, faults } = this.world;
    if (isTroubled && random.chance(0.1)) {
      faults["receipt never used"] += 1;
      return;
    }
    const uses = decide();
    loop.after(random.pick(latesMs), () => use(uses));
    if (!isTroubled || !random.chance(0.3)) return;
    faults["receipt used twice"] += 1;
    const others = random.chance(0.3) ? uses : decide();
    loop.after(random.pick([0, 500, 40_000]), () => use(others));
  }

  /** Carries out one use of `count` receipts of a batch, in one turn of the queue. */
  protected async settle(
    { leaseId }: DeliveryRecord,
    count: number,
    carryOut: (core: QueueCore) => Promise<unknown>,
  ): Promise<void> {
    const { world, queue } = this;
    const settled = exchange(world, () => {
      world.note("receipts arrive", queue.name, leaseId, count);
      return queue.perform(carryOut);
    });
    const isDone = await settled.then(
      () => 1,
      () => 0,
    );
    world.note("receipts are done", queue.name, leaseId, isDone);
  }
}
