import type { CancelMoveReply, NewMove, StartMoveReply } from "@sluice/protocol";
import type { QueueScenario, Scenario } from "../history/scenario.ts";
import type { Simulation } from "../history/simulation.ts";
import { Network } from "../platform/network.ts";
import type { QueueObject } from "../platform/queue-object.ts";

/** Somebody who redrives dead letters, or moves what is in a queue elsewhere, and thinks better of it now and then. */
export class Mover {
  readonly #world: Simulation;
  readonly #scenario: Scenario;
  readonly #network: Network;
  #tasks = 0;

  constructor(world: Simulation, scenario: Scenario) {
    this.#world = world;
    this.#scenario = scenario;
    this.#network = new Network(world);
  }

  /** Schedules its tasks. */
  start(): void {
    const { random, loop } = this.#world;
    const { moves, troubleMs, queues } = this.#scenario;
    const movable = queues.flatMap((queue, i) => (isMovable(queue, i === queues.length - 1) ? [i] : []));
    for (let n = 0; n < moves; n++) {
      // Mostly out of the last one, which dead letters come to.
      const i = random.pick([movable.at(-1), movable.at(-1), movable[random.below(movable.length)]]);
      const queue = i === undefined ? undefined : this.#world.queues[i];
      if (queue !== undefined) loop.after(random.below(troubleMs), () => this.#begin(queue));
    }
  }

  #begin(queue: QueueObject): void {
    const move = this.#drawMove(queue);
    const { faults, random, loop } = this.#world;
    faults["move task begun"] += 1;
    this.#network.send<StartMoveReply>({
      arrives: (reply, refuse) => {
        const taskId = `task ${++this.#tasks}`;
        const asked = { ...move, taskId };
        queue.movesAskedFor.set(taskId, asked);
        this.#world.note("move is asked for", queue.name, this.#tasks, move.ratePerSecond ?? 0);
        queue.call((core) => core.moves.begin(asked), reply, refuse);
      },
      answered: (reply) => {
        this.#world.note("move is answered", queue.name, reply.ok ? 1 : 2);
        if (reply.ok && random.chance(0.4)) {
          loop.after(random.pick([0, 300, 5_000]), () => this.#cancel(queue, reply.task.taskId));
        }
      },
      failed: () => this.#world.note("move is answered", queue.name, 0),
    });
  }

  #cancel(queue: QueueObject, taskId: string): void {
    this.#world.faults["move task cancelled"] += 1;
    this.#network.send<CancelMoveReply>({
      arrives: (reply, refuse) => {
        queue.movesCancelled.add(taskId);
        this.#world.note("move is cancelled", queue.name);
        queue.call(
          (core) => core.moves.cancel(taskId),
          (cancelled) => {
            if (cancelled.ok) this.#world.check("cancelled", queue, { taskId });
            reply(cancelled);
          },
          refuse,
        );
      },
      answered: (reply) => this.#world.note("move is answered", queue.name, reply.ok ? 1 : 2),
      failed: () => this.#world.note("move is answered", queue.name, 0),
    });
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
    return { target: null, ratePerSecond, ...(fallback === null ? {} : { fallback }) };
  }
}

/**
 * Whether what leaves a queue by a move task can be told from what dies in it, and has a tag: dead notifications do
 * not say where they come from, and runs of periodic tasks have names.
 */
function isMovable({ taker }: QueueScenario, isLast: boolean): boolean {
  if (taker.kind !== "endpoint") return true;
  return taker.format === "sluice" || (taker.format === "sqsd" && !isLast);
}
