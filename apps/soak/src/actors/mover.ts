import type { NewMove } from "@sluice/protocol";
import type { Simulation } from "../checkers/simulation.ts";
import { exchange } from "../platform/network.ts";
import type { QueueObject } from "../platform/queue-object.ts";
import type { QueueScenario, Scenario } from "../scenario/scenario.ts";

/**
 * Simulated client that redrives dead letters, or moves a queue's messages elsewhere, and cancels some of these tasks.
 */
export class Mover {
  readonly #world: Simulation;
  readonly #scenario: Scenario;
  #tasks = 0;

  constructor(world: Simulation, scenario: Scenario) {
    this.#world = world;
    this.#scenario = scenario;
  }

  /** Schedules its tasks. */
  start(): void {
    const { random, loop } = this.#world;
    const { moves, troubleMs, queues } = this.#scenario;
    const movable = queues.flatMap((queue, i) => (isMovable(queue, i === queues.length - 1) ? [i] : []));
    for (let n = 0; n < moves; n++) {
      // Mostly out of the last queue, which gets the dead letters.
      const i = random.pick([movable.at(-1), movable.at(-1), movable[random.below(movable.length)]]);
      const queue = i === undefined ? undefined : this.#world.queues[i];
      if (queue !== undefined) loop.after(random.below(troubleMs), () => void this.#begin(queue));
    }
  }

  async #begin(queue: QueueObject): Promise<void> {
    const move = this.#drawMove(queue);
    const { faults, random, loop } = this.#world;
    faults["move task begun"] += 1;
    const reply = await this.#ask(queue, () => {
      const taskId = `task ${++this.#tasks}`;
      const asked = { ...move, taskId };
      queue.movesAskedFor.set(taskId, asked);
      this.#world.note("move is asked for", queue.name, this.#tasks, move.ratePerSecond ?? 0);
      return queue.perform((_core, object) => object.startMove(queue.name, asked));
    });
    if (reply?.ok !== true || !random.chance(0.4)) return;
    await loop.sleep(random.pick([0, 300, 5_000]));
    await this.#cancel(queue, reply.task.taskId);
  }

  async #cancel(queue: QueueObject, taskId: string): Promise<void> {
    this.#world.faults["move task cancelled"] += 1;
    await this.#ask(queue, async () => {
      queue.movesCancelled.add(taskId);
      this.#world.note("move is cancelled", queue.name);
      const reply = await queue.perform((_core, object) => object.cancelMove(queue.name, taskId));
      if (reply.ok) this.#world.check("cancelled", queue, { taskId });
      return reply;
    });
  }

  /** Sends a request to the queue, and answers with its reply; `null` if none comes. */
  async #ask<Reply extends { readonly ok: boolean }>(
    { name }: QueueObject,
    arrives: () => Promise<Reply>,
  ): Promise<Reply | null> {
    const reply = await exchange(this.#world, arrives).catch(() => null);
    this.#world.note("move is answered", name, reply === null ? 0 : reply.ok ? 1 : 2);
    return reply;
  }

  #drawMove(queue: QueueObject): Omit<NewMove, "taskId"> {
    const { random, queues } = this.#world;
    const isFifo = queue.definition.fifo !== undefined;
    const others = queues.filter(
      (other) => other !== queue && !other.isTopic && (other.definition.fifo !== undefined) === isFifo,
    );
    const other = others[random.below(others.length)]?.name ?? null;
    const ratePerSecond = random.pick([null, null, 1, 3, 30, 500]);
    if (other !== null && random.chance(0.4)) return { target: other, ratePerSecond };
    const fallback = random.chance(0.5) ? other : null;
    const mayReach = random.chance(0.3)
      ? others.flatMap(({ name }) => (random.chance(0.5) ? name : []))
      : null;
    return {
      target: null,
      ratePerSecond,
      ...(fallback === null ? {} : { fallback }),
      ...(mayReach === null ? {} : { mayReach }),
    };
  }
}

/**
 * Whether moved messages of a queue can be told from its dead letters, and have tags: dead notifications do not say
 * where they come from, and runs of periodic tasks have names instead of tags.
 */
function isMovable({ taker }: QueueScenario, isLast: boolean): boolean {
  if (taker.kind !== "endpoint") return true;
  return taker.format === "sluice" || (taker.format === "sqsd" && !isLast);
}
