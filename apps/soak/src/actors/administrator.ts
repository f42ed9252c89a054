import { changeQueue, createQueue, deleteQueue, type Registry, setConsumer } from "@sluice/broker/testing";
import type { DirectoryReply, QueueDefinition, QueueSettingsChange } from "@sluice/protocol";
import { drawDefinition, type Scenario } from "../history/scenario.ts";
import type { Simulation } from "../history/simulation.ts";
import type { DirectoryObject } from "../platform/directory-object.ts";
import type { QueueObject } from "../platform/queue-object.ts";

const AGAIN_MS = 1_000;

/** Simulated client of the API that changes, deletes and creates queues while messages flow. */
export class Administrator {
  /** Queues that are not back in the end. */
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

  /** Sees to it that the queue exists and has who takes its messages. */
  async restore(queue: QueueObject): Promise<void> {
    this.unfinished += 1;
    const definition = this.#draw(queue);
    const restore = (registry: Registry) => {
      const row = registry.queue(queue.name);
      const created = row === undefined ? createQueue(registry, { name: queue.name }) : null;
      return created?.ok === false ? created : change(registry, queue, definition);
    };
    while ((await this.#ask(queue, restore))?.ok !== true) await this.#world.loop.sleep(AGAIN_MS);
    this.unfinished -= 1;
  }

  #change(queue: QueueObject): void {
    this.#world.faults["queue changed by the API"] += 1;
    const definition = this.#draw(queue);
    void this.#ask(queue, (registry) => change(registry, queue, definition));
  }

  #delete(queue: QueueObject): void {
    const { random, loop, faults } = this.#world;
    faults["queue deleted by the API"] += 1;
    void this.#ask(queue, (registry) => {
      // One that was on its way for so long would leave nobody to bring the queue back.
      const { queueId = "" } =
        (this.#world.isTroubled ? registry.queue(queue.name)?.record : undefined) ?? {};
      return deleteQueue(registry, queueId);
    });
    if (random.chance(0.3)) return;
    loop.after(random.pick([0, 10, 2_000, 60_000]), () => {
      if (this.#world.isTroubled) this.#create(queue);
    });
  }

  #create(queue: QueueObject): void {
    this.#world.faults["queue created again by the API"] += 1;
    const definition = this.#draw(queue);
    void this.#ask(queue, (registry) => {
      const created = createQueue(registry, { name: queue.name, settings: settingsOf(definition) });
      return created.ok ? withConsumer(registry, created.record.queueId, definition, created) : created;
    });
  }

  /** Sends a change to the directory, and answers with its reply; `null` if none comes. */
  async #ask(
    { name }: QueueObject,
    make: (registry: Registry) => DirectoryReply,
  ): Promise<DirectoryReply | null> {
    const asked = this.#directory.ask((_object, directory) => directory.change(make));
    const reply = await asked.catch(() => null);
    if (reply !== null) {
      this.#world.note("directory answers", name, reply.ok ? reply.record.revision : 0);
    }
    return reply;
  }

  /** Settings for it; dead letters go to queues further down. */
  #draw({ index }: QueueObject): QueueDefinition {
    const { random, queues } = this.#world;
    const { queues: scenarios } = this.#scenario;
    const scenario = scenarios[index];
    if (scenario === undefined) throw new Error("a queue that is none of the scenario's");
    const next = random.between(index + 1, scenarios.length);
    return drawDefinition(random, scenario.taker, queues[next]?.name ?? null);
  }
}

function settingsOf({ producers: _, consumer: __, ...settings }: QueueDefinition): QueueSettingsChange {
  return settings;
}

function change(registry: Registry, { name }: QueueObject, definition: QueueDefinition): DirectoryReply {
  const { queueId = "" } = registry.queue(name)?.record ?? {};
  const changed = changeQueue(registry, queueId, { settings: settingsOf(definition) });
  return changed.ok ? withConsumer(registry, queueId, definition, changed) : changed;
}

function withConsumer(
  registry: Registry,
  queueId: string,
  { consumer }: QueueDefinition,
  otherwise: DirectoryReply,
): DirectoryReply {
  if (consumer === null) return otherwise;
  const known = registry.queueById(queueId)?.record.consumer?.consumerId ?? null;
  return setConsumer(registry, queueId, known, consumer);
}
