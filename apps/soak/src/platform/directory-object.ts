import { createDirectory } from "@sluice/broker";
import type { DirectoryRow } from "@sluice/broker/testing";
import type { ObjectState, SqlValue } from "@sluice/objects/parts";
import type { QueueDefinition, QueueRecord } from "@sluice/protocol";
import { DirectoryLedger } from "../ledger/directory-ledger.ts";
import { type AskedDirectory, namespaceOf } from "./bindings.ts";
import type { SimulatedStorage, Version } from "./disk.ts";
import { exchange } from "./network.ts";
import type { QueueWorld } from "./queue-object.ts";
import { type End, SimulatedObject } from "./simulated-object.ts";

/** A row of the directory's table of queues that was written, `null` for one that is gone. */
interface Note {
  readonly name: string;
  readonly row: DirectoryRow | null;
}

/** The broker's class of the directory, which also runs what an actor wants done within a call. */
export type SimulatedDirectory = InstanceType<ReturnType<typeof directoryClassOf>>;

/** The one directory: the broker's own class, which crashes, and is out of reach now and then. */
export class DirectoryObject extends SimulatedObject implements AskedDirectory {
  readonly ledger = new DirectoryLedger();
  protected override readonly mayFail = true;
  readonly #world: QueueWorld;
  #topology: Readonly<Record<string, QueueDefinition>>;

  /** @param topology what the broker is deployed with. */
  constructor(world: QueueWorld, topology: Readonly<Record<string, QueueDefinition>>) {
    super(world, "directory");
    this.#world = world;
    this.#topology = topology;
  }

  /** Whether every queue's object has confirmed what it is, and everything is durable. */
  get isDone(): boolean {
    return this.disk.isSynced && this.ledger.isEverybodyTold && this.disk.alarmAtMs === null;
  }

  /** A new deployment: the directory starts again with another topology. */
  deploy(topology: Readonly<Record<string, QueueDefinition>>): void {
    this.#topology = topology;
    this.end({ how: "is evicted", version: this.disk.committedVersion });
    this.start();
  }

  /** A call leaves for the directory. */
  ask<Answer>(method: string, ...args: readonly unknown[]): Promise<Answer> {
    return exchange(this.#world, () => this.call<Answer>(method, ...args));
  }

  /** The same for what an actor wants done within a call. */
  perform<Answer>(run: (object: SimulatedDirectory) => Promise<Answer>): Promise<Answer> {
    return this.ask("perform", run);
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

  protected override ended({ version: lost }: End): void {
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

  protected override construct(state: ObjectState, storage: SimulatedStorage): object {
    const notify =
      (method: string) =>
      (name: string, ...args: readonly unknown[]) =>
        this.leave(storage, () => this.#notify(name, method, args));
    const env = {
      SLUICE_QUEUES: namespaceOf(() => ({
        configure: notify("configure"),
        clear: notify("clear"),
        topicChanged: notify("topicChanged"),
      })),
    };
    const DirectoryClass = directoryClassOf({
      topology: { queues: this.#topology },
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

  protected override synced(versions: readonly Version[]): void {
    for (const { name, row } of versions.flatMap(({ notes }) => notes as Note[])) {
      const queue = this.#world.queueNamed(name);
      const before = this.ledger.rows.get(name) ?? null;
      const wasDeleted = this.ledger.enter(name, row);
      if (queue !== undefined) this.#world.check("registered", queue, { before, after: row, wasDeleted });
    }
  }

  /** A call leaves for a queue's object. */
  async #notify(name: string, method: string, args: readonly unknown[]): Promise<void> {
    const queue = this.#world.queueNamed(name);
    if (queue === undefined)
      throw new Error(`the directory knows the queue "${name}", which is none of this history`);
    this.#world.note("queue is told what it is", name);
    const bug = this.#world.bug?.directory;
    if (bug === "tellsNobody") return;
    const told = exchange(this.#world, () => queue.callAlone(method, ...args.map(copied)));
    await told.catch((error: unknown) => {
      if (bug !== "tellsOnce") throw error;
    });
  }
}

function copied(arg: unknown): unknown {
  return typeof arg === "object" && arg !== null ? (JSON.parse(JSON.stringify(arg)) as QueueRecord) : arg;
}

function directoryClassOf(options: Parameters<typeof createDirectory>[0]) {
  return class SimulatedDirectory extends createDirectory(options) {
    perform<Answer>(run: (object: SimulatedDirectory) => Promise<Answer>): Promise<Answer> {
      return run(this);
    }
  };
}
