import { DRAIN_MS } from "@sluice/broker/testing";
import type { QueueDefinition } from "@sluice/protocol";
import type { Simulation } from "../checkers/simulation.ts";
import { pauseDelivery, resumeDelivery } from "../platform/pause-delivery.ts";
import type { QueueObject } from "../platform/queue-object.ts";
import { drawDefinition, type QueueScenario, type Scenario } from "../scenario/scenario.ts";

/** Brings about trouble that no message brings: the clock, the disk, new settings, a consumer that goes away. */
export class TroubleMaker {
  readonly #world: Simulation;
  readonly #scenario: Scenario;

  constructor(world: Simulation, scenario: Scenario) {
    this.#world = world;
    this.#scenario = scenario;
  }

  /** Schedules it all. */
  start(): void {
    const { clockJumps, settingsChanges, absences, failingWrites, pauses, drains } = this.#scenario;
    this.#times(clockJumps, () => this.#jump());
    this.#times(settingsChanges, () => this.#changeSettings());
    this.#times(absences, () => this.#sendConsumerAway());
    this.#times(failingWrites, () => this.#fillDisk());
    this.#times(pauses, () => this.#pauseDelivery());
    this.#times(drains, () => this.#drain());
    this.#times(2, () => this.#ask());
    if (this.#scenario.topic?.fate != null) this.#times(1, () => this.#deleteQueue());
  }

  #times(count: number, run: () => void): void {
    const { random, loop } = this.#world;
    for (let i = 0; i < count; i++) loop.after(random.below(this.#scenario.troubleMs), run);
  }

  #jump(): void {
    const { random, loop, faults } = this.#world;
    const ms = random.pick([30, 4_000, 70_000, 1_000_000, 90_000_000]);
    faults["clock jump"] += 1;
    this.#world.note("clock jumps", "", ms);
    loop.jump(ms);
    for (const queue of this.#world.queues) queue.isTouched = true;
  }

  #changeSettings(): void {
    const { random, faults, queues } = this.#world;
    faults["settings changed"] += 1;
    this.#world.note("settings change", "");
    const { directory } = this.#world;
    const drawn: Record<string, QueueDefinition> = {};
    this.#scenario.queues.forEach(({ taker }: QueueScenario, i) => {
      // Only queues further down, so that no message goes round in circles; it may be another one than before.
      const count = this.#scenario.queues.length;
      const next = random.between(i + 1, count);
      const target = next < count ? (queues[next]?.name ?? null) : null;
      const queue = queues[i];
      if (queue === undefined) return;
      const { name } = queue;
      const definition = drawDefinition(random, name, taker, target);
      queue.evict();
      drawn[name] = definition;
      const before = this.#world.deployed.record(name)?.definition;
      if (before === undefined) return;
      // The kind of a queue never changes. A new delay of a FIFO queue would hold for waiting messages too: the
      // engine's tests look at that.
      const { fifo, deliveryDelaySeconds } = before;
      const kept = fifo === undefined ? {} : { fifo, deliveryDelaySeconds };
      const isPaused = queue.settings.delivery === "paused";
      this.#world.deployed.change(name, { ...definition, ...kept, deliveryPaused: isPaused });
      queue.start();
    });
    directory?.deploy(drawn);
  }

  #sendConsumerAway(): void {
    const { random, faults, nowMs } = this.#world;
    const queue = this.#anyQueue();
    if (queue?.called == null) return;
    const ms = random.pick([10, 2_000, 120_000]);
    faults["consumer absent"] += 1;
    this.#world.note("consumer is absent", queue.name, ms);
    queue.called.absentUntilMs = nowMs + ms;
  }

  #pauseDelivery(): void {
    const { random, faults, loop } = this.#world;
    const queue = this.#anyQueue();
    if (queue === undefined || queue.settings.delivery !== "on") return;
    const ms = random.pick([10, 2_000, 120_000]);
    faults["delivery paused"] += 1;
    this.#world.note("delivery is paused", queue.name, ms);
    pauseDelivery(queue);
    loop.after(ms, () => {
      if (queue.settings.delivery !== "paused") return;
      this.#world.note("delivery is resumed", queue.name);
      resumeDelivery(queue);
    });
  }

  /** Drains every worker daemon, as a broker that is about to stop does. */
  #drain(): void {
    const { faults } = this.#world;
    for (const queue of this.#world.queues) {
      if (queue.endpoint?.format !== "sqsd") continue;
      faults["worker daemon drained"] += 1;
      const askedMs = this.#world.nowMs;
      const drained = queue.perform((_core, object) => object.drain(queue.name));
      const note = ({ requests }: { readonly requests: number }) => {
        this.#world.note("worker daemon is drained", queue.name, requests);
        const fromMs = this.#world.nowMs;
        queue.drained = { fromMs, untilMs: askedMs + DRAIN_MS, epoch: queue.epoch?.number ?? 0 };
      };
      drained.then(note, () => {});
    }
  }

  /**
   * Deletes the first queue, which gets no dead letters. Copies of the topic that still come for it go where its
   * subscription says.
   */
  #deleteQueue(): void {
    const [queue] = this.#world.queues;
    const fate = this.#scenario.topic?.fate;
    if (queue === undefined || fate == null) return;
    this.#world.faults["subscribed queue deleted"] += 1;
    this.#world.deployed.delete(queue.name);
    queue.remove(fate);
  }

  #fillDisk(): void {
    const { random } = this.#world;
    const queue = this.#anyQueue();
    if (queue === undefined) return;
    const [after, count] = [random.below(6), random.pick([1, 1, 4])];
    if (random.chance(0.3)) this.#world.directory?.disk.failWrites(after, count);
    this.#world.note("writes will fail", queue.name, after, count);
    queue.disk.failWrites(after, count);
  }

  /** Asks a random queue for its figures, which lets its engine look at the clock between two turns. */
  #ask(): void {
    const queue = this.#anyQueue();
    const described = queue?.perform(async (core) => {
      const description = core.describe();
      this.#world.check("described", queue, description);
      this.#world.note("figures are asked for", queue.name, description.ready, description.leased);
    });
    described?.catch(() => {});
  }

  #anyQueue(): QueueObject | undefined {
    const { random, queues } = this.#world;
    return queues[random.below(queues.length)];
  }
}
