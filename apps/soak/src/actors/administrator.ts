import type { DirectoryReply, QueueDefinition, QueueSettingsChange } from "@sluice/protocol";
import type { Simulation } from "../checkers/simulation.ts";
import type { DirectoryObject } from "../platform/directory-object.ts";
import type { QueueObject } from "../platform/queue-object.ts";
import type { PerformingDirectory } from "../platform/simulated-directory.ts";
import { drawDefinition, type Scenario } from "../scenario/scenario.ts";

const RESTORE_RETRY_MS = 1_000;
const NOT_FOUND: DirectoryReply = { ok: false, refusal: { kind: "queueNotFound" } };

/** Simulated client of the API that changes, deletes and creates queues while messages flow. */
export class Administrator {
  /** Calls of `restore` that have not succeeded yet. */
  unfinished = 0;
  readonly #world: Simulation;
  readonly #directory: DirectoryObject;
  readonly #scenario: Scenario;

  constructor(world: Simulation, directory: DirectoryObject, scenario: Scenario) {
    this.#world = world;
    this.#directory = directory;
    this.#scenario = scenario;
  }

  /** Schedules its changes. */
  start(): void {
    const { random, loop } = this.#world;
    const { administrations, troubleMs, queues } = this.#scenario;
    for (let n = 0; n < administrations; n++) {
      const queue = this.#world.queues[random.below(queues.length)];
      const act = random.pick([this.#change, this.#change, this.#delete, this.#delete]);
      if (queue !== undefined) loop.after(random.below(troubleMs), () => act.call(this, queue));
    }
  }

  /** Creates the queue, or changes the one that exists, until the directory confirms that it has a consumer. */
  async restore(queue: QueueObject): Promise<void> {
    this.unfinished += 1;
    const definition = this.#draw(queue);
    const restore = async (directory: PerformingDirectory) => {
      const known = await directory.findByName(queue.name);
      return known === null ? create(directory, queue, definition) : change(directory, queue, definition);
    };
    while ((await this.#ask(queue, restore))?.ok !== true) await this.#world.loop.sleep(RESTORE_RETRY_MS);
    this.unfinished -= 1;
  }

  #change(queue: QueueObject): void {
    this.#world.faults["queue changed by the API"] += 1;
    const definition = this.#draw(queue);
    void this.#ask(queue, (directory) => change(directory, queue, definition));
  }

  #delete(queue: QueueObject): void {
    const { random, loop, faults } = this.#world;
    faults["queue deleted by the API"] += 1;
    void this.#ask(queue, async (directory) => {
      // After the trouble a late deletion is not made: nothing would create the queue again.
      const known = this.#world.isTroubled ? await directory.findByName(queue.name) : null;
      return known === null ? NOT_FOUND : directory.deleteQueue(known.queueId);
    });
    if (random.chance(0.3)) return;
    loop.after(random.pick([0, 10, 2_000, 60_000]), () => {
      if (this.#world.isTroubled) this.#create(queue);
    });
  }

  #create(queue: QueueObject): void {
    this.#world.faults["queue created again by the API"] += 1;
    const definition = this.#draw(queue);
    void this.#ask(queue, (directory) => create(directory, queue, definition));
  }

  /** Sends a change to the directory, and answers with its reply; `null` if none comes. */
  async #ask(
    { name }: QueueObject,
    make: (directory: PerformingDirectory) => Promise<DirectoryReply>,
  ): Promise<DirectoryReply | null> {
    const reply = await this.#directory.perform(make).catch(() => null);
    if (reply !== null) {
      this.#world.note("directory answers", name, reply.ok ? reply.record.revision : 0);
    }
    return reply;
  }

  /** Draws a definition whose dead letters go to a queue further down the scenario's list. */
  #draw({ index }: QueueObject): QueueDefinition {
    const { random, queues } = this.#world;
    const { queues: scenarios } = this.#scenario;
    const scenario = scenarios[index];
    if (scenario === undefined) throw new Error("a queue that is none of the scenario's");
    const next = random.between(index + 1, scenarios.length);
    return drawDefinition(random, scenario.name, scenario.taker, queues[next]?.name ?? null);
  }
}

function settingsOf({ producers: _, consumer: __, ...settings }: QueueDefinition): QueueSettingsChange {
  return settings;
}

function create(
  directory: PerformingDirectory,
  { name }: QueueObject,
  definition: QueueDefinition,
): Promise<DirectoryReply> {
  const { consumer } = definition;
  return directory.createQueue({ name, settings: settingsOf(definition), consumer });
}

async function change(
  directory: PerformingDirectory,
  { name }: QueueObject,
  definition: QueueDefinition,
): Promise<DirectoryReply> {
  const known = await directory.findByName(name);
  if (known === null) return NOT_FOUND;
  const { queueId } = known;
  const changed = await directory.changeQueue(queueId, { settings: settingsOf(definition) });
  const { consumer } = definition;
  if (!changed.ok || consumer === null) return changed;
  return directory.setConsumer(queueId, known.consumer?.consumerId ?? null, consumer);
}
