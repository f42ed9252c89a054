import type { DirectoryRow } from "@sluice/broker/testing";
import { copyOf } from "@sluice/objects/parts";
import type { QueueDefinition } from "@sluice/protocol";
import { DirectoryLedger } from "../ledger/directory-ledger.ts";
import type { AskedDirectory } from "./bindings.ts";
import { exchange } from "./network.ts";
import type { QueueWorld } from "./queue-object.ts";
import { type PerformingDirectory, SimulatedDirectory } from "./simulated-directory.ts";

/** The one directory of queues without shards. */
export class DirectoryObject extends SimulatedDirectory implements AskedDirectory {
  readonly ledger = new DirectoryLedger();
  protected override readonly mayFail = true;
  readonly #world: QueueWorld;

  /** @param topology what the broker is deployed with. */
  constructor(world: QueueWorld, topology: Readonly<Record<string, QueueDefinition>>) {
    super(world, topology);
    this.#world = world;
  }

  /** Whether every queue's object has confirmed what it is, and everything is durable. */
  get isDone(): boolean {
    return this.disk.isSynced && this.ledger.isEverybodyTold && this.disk.alarmAtMs === null;
  }

  /** A new deployment: the directory starts again with another topology. */
  deploy(topology: Readonly<Record<string, QueueDefinition>>): void {
    this.topology = topology;
    this.end({ how: "is evicted", version: this.disk.committedVersion });
    this.start();
  }

  /** A call leaves for the directory, which runs what an actor wants done within it. */
  perform<Answer>(run: (object: PerformingDirectory) => Promise<Answer>): Promise<Answer> {
    return this.ask("perform", run);
  }

  protected override stored(name: string, row: DirectoryRow | null): void {
    const queue = this.#world.queueNamed(name);
    const before = this.ledger.rows.get(name) ?? null;
    const wasDeleted = this.ledger.enter(name, row);
    if (queue !== undefined) this.#world.check("registered", queue, { before, after: row, wasDeleted });
  }

  protected override async notify(
    name: string,
    method: string,
    [, ...args]: readonly unknown[],
  ): Promise<void> {
    const queue = this.#world.queueNamed(name);
    if (queue === undefined)
      throw new Error(`the directory knows the queue "${name}", which is none of this history`);
    this.#world.note("queue is told what it is", name);
    const bug = this.#world.bug?.directory;
    if (bug === "tellsNobody") return;
    const told = exchange(this.#world, () => queue.callAlone(method, ...args.map(copyOf)));
    await told.catch((error: unknown) => {
      if (bug !== "tellsOnce") throw error;
    });
  }
}
