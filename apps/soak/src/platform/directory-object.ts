import type { DirectoryRow } from "@sluice/broker/testing";
import { copyOf } from "@sluice/objects/parts";
import type { QueueDefinition } from "@sluice/protocol";
import { DirectoryLedger } from "../ledger/directory-ledger.ts";
import type { AskedDirectory } from "./bindings.ts";
import { exchange } from "./network.ts";
import type { QueueWorld } from "./queue-object.ts";
import { type PerformingDirectory, SimulatedDirectory } from "./simulated-directory.ts";

/**
 * The directory of a history whose queues have no shards: its rows go into a ledger, its notices to the simulated
 * queues.
 */
export class DirectoryObject extends SimulatedDirectory implements AskedDirectory {
  readonly ledger = new DirectoryLedger();
  protected override readonly mayFail = true;
  readonly #world: QueueWorld;

  /** @param topology queues that the broker is deployed with. */
  constructor(world: QueueWorld, topology: Readonly<Record<string, QueueDefinition>>) {
    super(world, topology);
    this.#world = world;
  }

  /** Whether every queue's object has confirmed its record, everything is durable, and no alarm is set. */
  get isDone(): boolean {
    return this.disk.isSynced && this.ledger.isEverybodyTold && this.disk.alarmAtMs === null;
  }

  /** Deploys anew: the directory starts again with another topology. */
  deploy(topology: Readonly<Record<string, QueueDefinition>>): void {
    this.topology = topology;
    this.end({ how: "is evicted", version: this.disk.committedVersion });
    this.start();
  }

  /** Runs `run` inside the directory, as a call that travels there. */
  perform<Answer>(run: (object: PerformingDirectory) => Promise<Answer>): Promise<Answer> {
    return this.ask("perform", run);
  }

  protected override becameDurable(name: string, row: DirectoryRow | null): void {
    const queue = this.#world.queueNamed(name);
    const before = this.ledger.rows.get(name) ?? null;
    const wasDeleted = this.ledger.enter(name, row);
    if (queue !== undefined) this.#world.check("registered", queue, { before, after: row, wasDeleted });
  }

  protected override async notify(
    name: string,
    method: string,
    // The first argument is the name, which `callAlone` adds itself.
    [, ...args]: readonly unknown[],
  ): Promise<void> {
    const queue = this.#world.queueNamed(name);
    if (queue === undefined)
      throw new Error(`the directory knows the queue "${name}", which is none of this history`);
    const bug = this.#world.bug?.directory;
    if (bug === "tellsNobody") return;
    this.#world.note("queue is told what it is, or that it is gone", name);
    const told = exchange(this.#world, () => queue.callAlone(method, ...args.map(copyOf)));
    await told.catch((error: unknown) => {
      if (bug !== "tellsOnce") throw error;
    });
  }
}
