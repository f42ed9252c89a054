import type { Simulation } from "../history/simulation.ts";
import { Network } from "../platform/network.ts";
import type { QueueObject } from "../platform/queue-object.ts";

/** Between two polls of a client once everybody behaves, in ms. */
const CALM_POLL_MS = 20_000;

/** A client that asks a queue for messages, again and again until everything has drained. */
export abstract class Client {
  protected readonly world: Simulation;
  protected readonly queue: QueueObject;
  protected readonly network: Network;

  constructor(world: Simulation, queue: QueueObject) {
    this.world = world;
    this.queue = queue;
    this.network = new Network(world);
  }

  /** Polls now, and again: on average after that time while there is trouble. */
  start(everyMs: number): void {
    const { loop, random, isTroubled, isDrained } = this.world;
    if (isDrained) return;
    this.poll();
    const waitMs = isTroubled ? random.below(2 * everyMs) : CALM_POLL_MS;
    loop.after(waitMs, () => this.start(everyMs));
  }

  protected abstract poll(): void;
}
