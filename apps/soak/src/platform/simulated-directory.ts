import { createDirectory } from "@sluice/broker";
import type { DirectoryRow } from "@sluice/broker/testing";
import type { ObjectState, SqlValue } from "@sluice/objects/parts";
import type { QueueDefinition } from "@sluice/protocol";
import type { World } from "../world/world.ts";
import { namespaceOf } from "./bindings.ts";
import type { SimulatedStorage, Version } from "./disk.ts";
import { exchange } from "./network.ts";
import { type End, SimulatedObject } from "./simulated-object.ts";

/** Methods of queues' and topics' objects that the directory calls. */
const OBJECT_METHODS = ["configure", "clear", "topicChanged", "shardState"];

/** A row of the directory's table of queues that was written, `null` for one that is gone. */
interface Note {
  readonly name: string;
  readonly row: DirectoryRow | null;
}

/** The broker's class of the directory, with a method that runs an actor's function within a call. */
export type PerformingDirectory = InstanceType<ReturnType<typeof directoryClassOf>>;

/** The directory on the simulated host: the broker's own class. It crashes, and calls to it get lost now and then. */
export abstract class SimulatedDirectory extends SimulatedObject {
  /** Configuration that the broker is deployed with. */
  protected topology: Readonly<Record<string, QueueDefinition>>;
  readonly #world: World;

  constructor(world: World, topology: Readonly<Record<string, QueueDefinition>>) {
    super(world, "directory");
    this.#world = world;
    this.topology = topology;
  }

  /** A row of the table of queues has become durable; `null` for one that is gone. */
  protected abstract becameDurable(name: string, row: DirectoryRow | null): void;
  /** A call leaves for the object of a queue or a topic. */
  protected abstract notify(name: string, method: string, args: readonly unknown[]): Promise<unknown>;

  /** Calls the directory over the simulated network. */
  ask<Answer>(method: string, ...args: readonly unknown[]): Promise<Answer> {
    return exchange(this.#world, () => this.call<Answer>(method, ...args));
  }

  trouble(): void {
    const { rates, random, loop } = this.#world;
    if (!random.chance(rates.crash + rates.evict)) return;
    const { instance, disk } = this;
    loop.after(random.pick([0, 0, 1, 2]), () => {
      if (instance === null || this.instance !== instance) return;
      this.#world.faults["directory crashed"] += 1;
      this.end({ how: "crashes", version: random.between(disk.durableVersion, disk.committedVersion) });
    });
  }

  protected override started(): void {
    this.#world.note("directory starts", "", this.disk.durableVersion);
  }

  protected override ended(_how: End["how"], lost: number): void {
    this.#world.note("directory ends", "", lost);
  }

  protected override writes(sql: string, [name, text]: readonly SqlValue[]): boolean {
    const isSaved = sql.startsWith("INSERT OR REPLACE INTO queues ");
    if (!isSaved && !sql.startsWith("DELETE FROM queues ")) return true;
    const saved = isSaved ? (JSON.parse(String(text)) as DirectoryRow) : null;
    const isForgotten = this.#world.bug?.directory === "forgetsDeletions" && saved?.kind === "deleted";
    const row = isForgotten ? null : saved;
    this.disk.current.notes.push({ name: String(name), row } satisfies Note);
    if (isForgotten) this.disk.write("DELETE FROM queues WHERE name = ?", [String(name)]);
    return !isForgotten;
  }

  protected override synced(versions: readonly Version[]): void {
    for (const { name, row } of versions.flatMap(({ notes }) => notes as Note[]))
      this.becameDurable(name, row);
  }

  protected override construct(state: ObjectState, storage: SimulatedStorage): object {
    const methodsOf = (name: string) =>
      OBJECT_METHODS.map((method) => [
        method,
        (...args: readonly unknown[]) => this.leave(storage, () => this.notify(name, method, args)),
      ]);
    const env = { SLUICE_QUEUES: namespaceOf((name) => Object.fromEntries(methodsOf(name))) };
    const DirectoryClass = directoryClassOf({
      topology: { queues: this.topology },
      hostOf: ((ctx: ObjectState, bindings: object) =>
        this.hostOf(ctx, storage, bindings, (work) => {
          const done = ctx.blockConcurrencyWhile(work);
          // The digest of the topology is computed outside of the history's events.
          this.#world.waitFor(done);
          return done;
        })) as never,
    });
    return new DirectoryClass(state as never, env as never);
  }
}

function directoryClassOf(options: Parameters<typeof createDirectory>[0]) {
  return class PerformingDirectory extends createDirectory(options) {
    perform<Answer>(run: (object: PerformingDirectory) => Promise<Answer>): Promise<Answer> {
      return run(this);
    }
  };
}
